// What the content filter makes of a text: tried here, before an agent is shown it.

import type { Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

export const FORMATS = ["raw", "structured", "summary"] as const;

export interface Filter {
  strip_code_blocks: boolean;
  strip_inline_code: boolean;
  transform_apis: boolean;
  transform_examples: boolean;
  max_size: number;
  format: string;
}

/** What an agent gets that says nothing. */
export const DEFAULT_FILTER: Filter = {
  strip_code_blocks: true,
  strip_inline_code: true,
  transform_apis: false,
  transform_examples: false,
  max_size: 65_536,
  format: "raw",
};

export interface PreviewDraft {
  content: string;
  contentType: string;
  url: string;
  filter: Filter;
}

export interface Removed {
  kind: string;
  language: string | null;
  lines: number;
  text: string;
  /** Not all of it is shown. */
  cut: boolean;
}

export interface Preview {
  contentType: string;
  title: string | null;
  content: string;
  truncated: boolean;
  density: number;
  warnings: string[];
  codeBlocksRemoved: number;
  bytesStripped: number;
  transformations: number;
  /** The first pieces. */
  removed: Removed[];
  /** How many there were beside them. */
  beyond: number;
}

export async function previewFilter({ content, contentType, url, filter }: PreviewDraft): Promise<Preview> {
  const body: { [key: string]: Json } = { content, filter: { ...filter } };
  if (contentType !== "") body["content_type"] = contentType;
  if (url !== "") body["url"] = url;
  const it = object(await ask("web/preview", { method: "POST", body }), "the preview");
  const report = object(it["report"], "the report");
  return {
    contentType: text(it["content_type"]),
    title: maybe(it["title"]),
    content: text(it["content"]),
    truncated: it["truncated"] === true,
    density: number(it["density"], "density"),
    warnings: list(it["warnings"]).map(text),
    codeBlocksRemoved: number(report["code_blocks_removed"], "code_blocks_removed"),
    bytesStripped: number(report["bytes_stripped"], "bytes_stripped"),
    transformations: number(report["transformations"], "transformations"),
    removed: list(it["removed"]).map(toRemoved),
    beyond: number(it["n_more_removed"], "n_more_removed"),
  };
}

function toRemoved(value: Json): Removed {
  const it = object(value, "what was removed");
  return {
    kind: text(it["kind"]),
    language: maybe(it["language"]),
    lines: number(it["lines"], "lines"),
    text: text(it["text"]),
    cut: it["cut"] === true,
  };
}
