import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { fingerprint } from "./fingerprint.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const page = fileURLToPath(new URL("../src/cyclescope/views/data/report.html", import.meta.url));
const target = process.env["REPORT_PAGE"] ?? page;

/** The libraries that are in the page, and under what they let us put them there. */
const licences = ["preact", "@preact/signals"].map((name) => {
  const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8");
  return `${name}\n\n${text.trim()}`;
});

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Puts script and style into the page, under a policy that allows just these two by their hashes,
 * and writes it to where the Python package finds it.
 */
function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const of = (ending: string) => {
        const found = Object.values(bundle).filter((file) => file.fileName.endsWith(ending));
        if (found.length !== 1) throw new Error(`${found.length} files *${ending}, not one`);
        const file = found[0]!;
        delete bundle[file.fileName];
        return String(file.type === "chunk" ? file.code : file.source);
      };
      // A "</script" in a string of the code would end it.
      const script = of(".js").replaceAll("</script", "<\\/script");
      const style = of(".css");
      const html = of(".html");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ].join("; ");
      const head = [
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        `<meta name="built-from" content="${fingerprint(here)}">`,
        `<style>${style}</style>`,
      ].join("\n    ");
      const whole = html
        .replace("<!doctype html>", `<!doctype html>\n<!--\n${licences.join("\n\n")}\n-->`)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace(/<meta charset="utf-8" ?\/?>/, (found) => `${found}\n    ${head}`)
        // Last in the page: the data come before it.
        .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
      writeFileSync(target, whole);
      this.info(`${target}: ${Math.round(whole.length / 1024)} kB`);
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    write: false,
  },
  plugins: [onePage()],
  // A busy machine is slow: what hangs is found in a minute, too.
  test: { include: ["test/**/*.test.ts"], testTimeout: 60_000 },
});

