// Who was let through to what an advisory or a rule is about, since when, and what of it lies in the cache.

import { toInteger, type Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, number, object } from "./read";

export interface Affected {
  ecosystem: string;
  package: string;
  version: string | null;
  hit: string;
  principals: number;
  downloads: number;
  files: number;
  cached: number;
}

export interface Download {
  ecosystem: string;
  package: string;
  version: string | null;
  principal: string;
  token: string | null;
  downloads: number;
  firstAt: string;
  lastAt: string;
  lastPosition: Position;
}

export interface Impact {
  name: string;
  names: string[];
  records: { source: string; ecosystem: string; id: string; summary: string }[];
  complete: boolean;
  principals: number;
  downloads: number;
  cached: number;
  versions: Affected[];
  page: Download[];
  next: string | undefined;
}

export async function getImpact(name: string, cursor: string | undefined, signal?: AbortSignal): Promise<Impact> {
  const path = `registry/impact/${encodeURIComponent(name)}${query({ limit: 50, cursor })}`;
  const it = object(await ask(path, { signal }), "the impact");
  return {
    name: text(it["name"]),
    names: list(it["names"]).map(text),
    records: list(it["records"]).map((value) => {
      const record = object(value, "a record");
      return {
        source: text(record["source"]),
        ecosystem: text(record["ecosystem"]),
        id: text(record["id"]),
        summary: text(record["summary"]),
      };
    }),
    complete: it["complete"] === true,
    principals: number(it["n_principals"], "n_principals"),
    downloads: number(it["n_downloads"], "n_downloads"),
    cached: number(it["n_cached"], "n_cached"),
    versions: list(it["versions"]).map(toAffected),
    page: list(it["downloads"]).map(toDownload),
    next: maybe(it["next"]) ?? undefined,
  };
}

function toAffected(value: Json): Affected {
  const it = object(value, "an affected version");
  const files = list(it["files"]).map((file) => object(file, "a file"));
  return {
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    version: maybe(it["version"]),
    hit: text(it["hit"]),
    principals: number(it["n_principals"], "n_principals"),
    downloads: number(it["n_downloads"], "n_downloads"),
    files: files.length,
    cached: files.filter((file) => file["cached"] === true).length,
  };
}

function toDownload(value: Json): Download {
  const it = object(value, "a download");
  return {
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    version: maybe(it["version"]),
    principal: text(it["principal"]),
    token: maybe(it["token"]),
    downloads: number(it["n_downloads"], "n_downloads"),
    firstAt: text(it["first_at"]),
    lastAt: text(it["last_at"]),
    lastPosition: toInteger(it["last_position"], "last_position"),
  };
}
