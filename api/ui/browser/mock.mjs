// A small Weir for developing the UI and for states a healthy server does not show: forced disconnects, an empty log,
// a server that is away. It speaks the HTTP contract; it decides nothing and remembers nothing.
//
//   node browser/mock.mjs [--port 7400] [--rate 4] [--empty]     sign in with rf_mock

import { createReadStream, existsSync, statSync } from "node:fs";
import http from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { event, KINDS, stories } from "./mock-log.mjs";
import { MockFirewall } from "./mock-firewall.mjs";
import { MockProjections } from "./mock-projections.mjs";
import { MockWeb } from "./mock-web.mjs";
import { MockWebRequests } from "./mock-web-requests.mjs";
import { answerPast } from "./mock-what-if.mjs";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".txt": "text/plain",
};
const CSP =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

export const TOKEN = "rf_mock";

export class Mock {
  constructor({ events = 0, projections = true, heartbeat = 1_000, prefix = "/", firewall = {}, web = {} } = {}) {
    this.incarnation = "0193a1c0-mock";
    this.events = [];
    this.streams = new Set();
    this.streamsOpened = 0;
    this.failures = 0;
    this.fault = undefined;
    this.prefix = prefix;
    this.projections = new MockProjections(() => this.events.length, projections);
    this.firewall = new MockFirewall(firewall);
    this.web = new MockWeb({ empty: firewall.empty, ...web });
    this.webRequests = new MockWebRequests({ empty: firewall.empty, ...web });
    this.heartbeat = heartbeat;
    this.append(events);
  }

  async start(port = 0) {
    this.server = http.createServer((request, answer) =>
      this.#answer(request, answer).catch((fault) => problem(answer, 500, "Mock fault", String(fault))),
    );
    this.timer = setInterval(() => {
      for (const stream of this.streams)
        this.#send(
          stream,
          `event: heartbeat\ndata: {"head":${this.events.length},"at":"${new Date().toISOString()}"}\n\n`,
        );
    }, this.heartbeat);
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}${this.prefix}`;
    return this;
  }

  /** Cuts every connection and refuses new ones, until `start(port)` again. */
  async stop() {
    clearInterval(this.timer);
    this.streams.clear();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  append(count, kind, payload) {
    const fresh = [];
    const first = this.events.length + 1;
    this.source ??= stories(first);
    for (let added = 0; added < count; added += 1) {
      fresh.push(kind ? event(first + added, kind, `single ${first + added}`, null, payload) : { ...this.source.next().value });
    }
    // The story goes on where single events were put in between.
    if (kind) this.source = stories(first + count);
    this.events.push(...fresh);
    for (const stream of this.streams)
      this.#send(
        stream,
        fresh
          .filter(stream.passes)
          .map((event) => this.#frame(event))
          .join(""),
      );
    return fresh;
  }

  /** Appends an event with a payload written by hand, digits and all. */
  appendRaw(name, payloadText) {
    const position = this.events.length + 1;
    const made = event(position, name, `raw ${position}`, null, "@payload@");
    made.text = JSON.stringify(made).replace('"@payload@"', payloadText);
    this.events.push(made);
    this.source = stories(position + 1);
    for (const stream of this.streams) this.#send(stream, this.#frame(made));
  }

  dropStreams() {
    for (const { answer } of this.streams) answer.destroy();
    this.streams.clear();
  }

  closeStreams() {
    for (const stream of this.streams) {
      this.#send(stream, "event: closing\nretry: 50\ndata: {}\n\n");
      stream.answer.end();
    }
    this.streams.clear();
  }

  /** The log is replaced, as by a restore from a backup. */
  resync(events) {
    this.incarnation = `${this.incarnation}x`;
    this.events = [];
    this.source = undefined;
    const streams = [...this.streams];
    this.streams.clear();
    this.append(events);
    for (const stream of streams) {
      this.#send(
        stream,
        `event: resync\ndata: {"incarnation":"${this.incarnation}","head":${this.events.length},"reason":"restored from a backup"}\n\n`,
      );
      stream.answer.end();
    }
  }

  async #answer(request, answer) {
    const url = new URL(request.url, "http://mock");
    if (!url.pathname.startsWith(this.prefix)) return problem(answer, 404, "Not found", "outside the prefix");
    const path = `/${url.pathname.slice(this.prefix.length)}`;
    if (!path.startsWith("/api/")) return this.#file(path, answer);
    answer.setHeader("weir-position", String(this.events.length));
    const body = request.method === "GET" ? undefined : await read(request, path.endsWith("/import"));
    if (path === "/api/session") return this.#session(request, answer, body);
    if (this.fault) return problem(answer, ...this.fault);
    if (!signedIn(request)) return problem(answer, 401, "Not signed in", "sign in with a token");
    if (
      request.method !== "GET" &&
      !request.headers.authorization &&
      (request.headers["x-weir-csrf"] !== "1" || !request.headers["content-type"]?.startsWith("application/json"))
    ) {
      return problem(answer, 403, "Cross-site request refused", "the header x-weir-csrf is missing");
    }
    return this.#api(path.slice(5), url.searchParams, request, answer, body);
  }

  #session(request, answer, body) {
    if (request.method === "DELETE") {
      answer.setHeader("set-cookie", "weir=; Max-Age=0; Path=/");
      return void answer.writeHead(204).end();
    }
    if (request.method === "POST") {
      if (this.failures >= 10)
        return problem(answer, 429, "Too many attempts", "wait five minutes", { "retry-after": "300" });
      if (body.token !== TOKEN) {
        this.failures += 1;
        return problem(answer, 401, "Token refused", "this token is not known, expired or revoked");
      }
      answer.setHeader("set-cookie", "weir=mock; HttpOnly; SameSite=Strict; Path=/");
    } else if (!signedIn(request)) return json(answer, 200, { principal: null, scopes: [], expires_at: null });
    json(answer, 200, { principal: "admin", scopes: this.firewall.scopes, expires_at: "2027-01-01T00:00:00Z" });
  }

  #api(path, query, request, answer, body) {
    const head = this.events.length;
    const [kind, name, what, position, verb] = path.split("/").map(decodeURIComponent);
    if (path === "events") {
      if (request.headers.accept?.includes("text/event-stream")) return this.#stream(query, request, answer);
      return this.#page(query, answer);
    }
    if (kind === "events") {
      const found = this.events[Number(name) - 1];
      if (!found) return problem(answer, 404, "No such event", `the log ends at ${head}`);
      if (what === undefined) return text(answer, found.text ?? JSON.stringify(found));
      const { correlation_id } = found.meta;
      return json(answer, 200, {
        correlation_id,
        events: this.events.filter(({ meta }) => meta.correlation_id === correlation_id),
      });
    }
    if (path === "kinds") return json(answer, 200, { kinds: KINDS });
    if (path === "status")
      return json(answer, 200, {
        version: "0.1.0-mock",
        incarnation: this.incarnation,
        head,
        uptime_seconds: 4_711,
        sse_clients: this.streams.size,
      });
    const asked = { path, query, method: request.method, body };
    const speak = { json: (...rest) => json(answer, ...rest), problem: (...rest) => problem(answer, ...rest) };
    const plain = (body, headers) => answer.writeHead(200, { "content-type": "text/plain; charset=utf-8", ...headers }).end(body);
    const lines = (line) => this.#lines(answer, line);
    if (answerPast({ ...asked, ...speak, lines, empty: this.firewall.empty })) return;
    if (this.firewall.answer({ ...asked, ...speak })) return;
    if (this.web.answer({ ...asked, ...speak, may: (scope) => this.firewall.may(scope) })) return;
    if (this.webRequests.answer({ ...asked, ...speak, plain, may: (scope) => this.firewall.may(scope) })) return;
    if (path === "projections") return json(answer, 200, { head, projections: this.projections.views() });
    if (kind === "projections")
      return this.projections.answer({
        name,
        what,
        position,
        verb,
        method: request.method,
        body,
        query,
        json: (...rest) => json(answer, ...rest),
        problem: (...rest) => problem(answer, ...rest),
      });
    problem(answer, 404, "Not found", path);
  }

  /** A line of JSON at a time, until the one with the result, or until nobody listens. */
  #lines(answer, line) {
    answer.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    let step = 0;
    const timer = setInterval(() => {
      const next = line(step++);
      answer.write(`${JSON.stringify(next)}\n`);
      if (next.result) answer.end();
    }, 40);
    answer.on("close", () => {
      clearInterval(timer);
      this.ended = step;
    });
  }

  #page(query, answer) {
    const passes = filter(query);
    const limit = Math.min(1_000, Number(query.get("limit") ?? 100));
    const after = query.has("after") ? Number(query.get("after")) : undefined;
    const before = query.has("before") ? Number(query.get("before")) : Infinity;
    const unknown = (query.get("kind") ?? "")
      .split(",")
      .find((name) => name !== "" && !KINDS.some((kind) => kind.name === name));
    if (unknown) return problem(answer, 400, "Bad filter", `no kind is called \`${unknown}\``);
    const matching = this.events.filter(
      (event) => passes(event) && event.position > (after ?? 0) && event.position < before,
    );
    const page = after === undefined ? matching.slice(-limit) : matching.slice(0, limit);
    const texts = page.map((event) => event.text ?? JSON.stringify(event));
    text(
      answer,
      `{"events":[${texts.join(",")}],"head":${this.events.length},"first":${page[0]?.position ?? null},"last":${page.at(-1)?.position ?? null}}`,
    );
  }

  #stream(query, request, answer) {
    const id = request.headers["last-event-id"] ?? query.get("after") ?? "";
    const [, incarnation, digits] = /^(?:(.*)-)?(\d+)$/.exec(id) ?? [];
    const stream = { answer, passes: filter(query) };
    this.streamsOpened += 1;
    answer.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    if (incarnation !== undefined && incarnation !== this.incarnation) {
      this.#send(
        stream,
        `event: resync\ndata: {"incarnation":"${this.incarnation}","head":${this.events.length},"reason":"another incarnation of the log"}\n\n`,
      );
      return void answer.end();
    }
    const from = digits === undefined ? this.events.length : Number(digits);
    this.#send(stream, `retry: 100\nid: ${this.incarnation}-${from}\n\n`);
    this.#send(
      stream,
      this.events
        .slice(from)
        .filter(stream.passes)
        .map((event) => this.#frame(event))
        .join(""),
    );
    this.streams.add(stream);
    request.on("close", () => this.streams.delete(stream));
  }

  #frame(event) {
    return `id: ${this.incarnation}-${event.position}\ndata: ${event.text ?? JSON.stringify(event)}\n\n`;
  }

  #send({ answer }, frames) {
    if (frames !== "") answer.write(frames);
  }

  #file(path, answer) {
    let file = join(DIST, path);
    if (!existsSync(file) || statSync(file).isDirectory()) {
      if (path.lastIndexOf("/") > 0) return problem(answer, 404, "Not found", path);
      file = join(DIST, "index.html");
    }
    answer.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-security-policy": CSP,
      "x-content-type-options": "nosniff",
      "cache-control": file.includes("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    });
    createReadStream(file).pipe(answer);
  }
}

function filter(query) {
  const [kinds, subsystems] = ["kind", "subsystem"].map((key) =>
    (query.get(key) ?? "").split(",").filter((name) => name !== ""),
  );
  const stream = query.get("stream") ?? "";
  const principal = query.get("principal");
  return (event) =>
    event.stream.startsWith(stream) &&
    (principal === null || event.meta.principal === principal) &&
    (kinds.length === 0 || kinds.includes(event.kind)) &&
    (subsystems.length === 0 || subsystems.includes(event.subsystem));
}

function signedIn(request) {
  return /(?:^|; )weir=mock/.test(request.headers.cookie ?? "") || request.headers.authorization === `Bearer ${TOKEN}`;
}

async function read(request, raw) {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (raw) return body;
  return body === "" ? {} : JSON.parse(body);
}

function json(answer, status, value) {
  text(answer, JSON.stringify(value), status);
}

function text(answer, body, status = 200) {
  if (status === 204) return void answer.writeHead(204).end();
  answer.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
}

function problem(answer, status, title, detail, headers = {}, more = {}) {
  answer
    .writeHead(status, { "content-type": "application/problem+json", ...headers })
    .end(
      JSON.stringify({
        type: "about:blank",
        title,
        status,
        detail,
        code: title.toLowerCase().replaceAll(" ", "_"),
        request_id: "req-mock",
        ...more,
      }),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) =>
    process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise;
  const mock = await new Mock({
    events: process.argv.includes("--empty") ? 0 : 1_200,
    projections: !process.argv.includes("--empty"),
  }).start(Number(option("--port", 7400)));
  setInterval(() => mock.append(1), 1_000 / Number(option("--rate", 4)));
  console.log(`${mock.url} with token ${TOKEN}`);
}
