// The mock's content filter: it knows fences of Markdown, and makes nothing else of a text.

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;
const NOTICE = "[code removed]";

/** Answers a preview. */
export function answerPreview({ body, json, problem }) {
  const { content, content_type: contentType = "text/markdown", filter } = body;
  if (content.includes("\u0000")) {
    const errors = [{ field: "content", detail: "it is no text" }];
    return problem(422, "Preview refused", "content: it is no text", {}, { errors });
  }
  if (!filter.strip_code_blocks && !body.url?.includes("waived.example"))
    return problem(403, "The agent may not do this, or cannot pay for it", "`strip_code_blocks: false` needs a waiver for this agent or this host");
  const removed = [];
  const filtered = filter.strip_code_blocks
    ? content.replaceAll(FENCE, (_, language, text) => {
        const lines = text.trimEnd().split("\n");
        removed.push({
          kind: "block",
          language: language === "" ? null : language,
          lines: lines.length,
          text: lines.slice(0, 20).join("\n"),
          cut: lines.length > 20,
        });
        return NOTICE;
      })
    : content;
  const stripped = Math.max(0, content.length - filtered.length);
  const density = content.length === 0 ? 0 : stripped / content.length;
  json(200, {
    content_type: contentType,
    title: /^# (.*)$/m.exec(content)?.[1] ?? null,
    content: filtered.slice(0, filter.max_size),
    truncated: filtered.length > filter.max_size,
    density,
    warnings: density > 0.5 ? ["high code density detected"] : [],
    report: { code_blocks_removed: removed.length, bytes_stripped: stripped, transformations: 0 },
    removed: removed.slice(0, 256),
    n_more_removed: Math.max(0, removed.length - 256),
  });
}
