// The mock's web gateway: what its pages of the UI ask, by scope.

import { answerPreview } from "./mock-web-filter.mjs";
import { MockWebPages } from "./mock-web-pages.mjs";
import { MockWebRules } from "./mock-web-rules.mjs";

export class MockWeb {
  constructor(options = {}) {
    this.rules = new MockWebRules(options);
    this.pages = new MockWebPages(options);
  }

  /** Answers if the path is one of the gateway's. */
  answer({ path, may, ...asked }) {
    const [, what] = /^web\/(cache|check|preview|reports|rules|search|waivers)(?:\/|$)/.exec(path) ?? [];
    if (what === undefined) return false;
    // A preview changes nothing, and neither says nor keeps anything.
    const scope = asked.method === "GET" || what === "preview" ? "web:read" : "web:write";
    if (!may(scope)) asked.problem(403, "Missing scope", `this needs scope \`${scope}\``);
    else if (what === "preview") answerPreview(asked);
    else if (["check", "rules", "waivers"].includes(what)) this.rules.answer({ path, ...asked });
    else this.pages.answer({ path, ...asked });
    return true;
  }
}
