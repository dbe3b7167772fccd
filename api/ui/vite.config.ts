import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `base` is relative, so one build works under `/` and behind a path prefix; `src/root.ts` finds the prefix again.
// The build must be the same bytes everywhere: it is committed, and CI compares.
export default defineConfig({
  base: "./",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "dist",
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    sourcemap: false,
    // What is bundled keeps its licence.
    license: { fileName: "licenses.md" },
    assetsInlineLimit: 0,
    // The polyfill is for browsers that could not run the rest either.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: Object.fromEntries(
      // Weir compares `origin` with `host`: what came to us goes on as it came.
      ["/api", "/livez", "/readyz"].map((path) => [
        path,
        { target: process.env.WEIR_URL ?? "http://127.0.0.1:7400", changeOrigin: false },
      ]),
    ),
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
