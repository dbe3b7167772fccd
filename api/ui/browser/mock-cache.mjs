// The mock's cache: two ecosystems, which are forgotten as they are asked for.

const AGO = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

export class MockCache {
  constructor({ empty = false } = {}) {
    this.since = AGO(90);
    this.purged = 0;
    this.of = { pypi: empty ? [0, 0] : [120, 40], npm: empty ? [0, 0] : [3_400, 900] };
    this.queries = [];
  }

  answer({ query, method, json, problem }) {
    if (method === "GET") return json(200, this.#stats());
    const [ecosystem, all, versions] = ["ecosystem", "all", "versions"].map((name) => query.get(name));
    this.queries.push(query.toString());
    if (versions?.includes("^") && ecosystem === "pypi") {
      return problem(400, "Bad parameter", "versions: `^1` is no constraint on versions");
    }
    if (!ecosystem && all !== "true") return problem(400, "Bad parameter", "everything goes with all=true");
    let [files, documents] = [0, 0];
    for (const name of Object.keys(this.of).filter((name) => !ecosystem || name === ecosystem)) {
      files += this.of[name][0];
      documents += this.of[name][1];
      this.of[name] = [0, 0];
    }
    this.purged += files;
    json(200, { ecosystem, n_files: files, size_bytes: files * 100_000, n_documents: documents, before: AGO(0) });
  }

  #stats() {
    const kind = (n, size, hits, misses) => ({
      n,
      size_bytes: n * size,
      oldest_at: n > 0 ? AGO(80) : null,
      newest_at: n > 0 ? AGO(1) : null,
      hits,
      misses,
      hit_rate: hits + misses > 0 ? hits / (hits + misses) : null,
    });
    const evictions = { lru: 0, expired: 0, purged: this.purged, broken: 0 };
    const part = (files, documents) => ({
      files: kind(files, 100_000, files * 9, files),
      documents: kind(documents, 20_000, documents * 3, documents),
      hit_rate: files + documents > 0 ? 0.873 : null,
      evictions,
    });
    const ecosystems = Object.entries(this.of).map(([ecosystem, [files, documents]]) => ({ ecosystem, ...part(files, documents) }));
    const [files, documents] = Object.values(this.of).reduce(([f, d], [files, documents]) => [f + files, d + documents], [0, 0]);
    return { since: this.since, max_bytes: 50_000_000_000, used: (files * 100_000) / 50_000_000_000, total: part(files, documents), ecosystems };
  }
}
