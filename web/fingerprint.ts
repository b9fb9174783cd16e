import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the page is built from: a hash over the sources, as tests/views/test_report_page.py has it. */
export function fingerprint(root: string): string {
  const files = readdirSync(join(root, "src"))
    .map((name) => `src/${name}`)
    .concat("fingerprint.ts", "index.html", "package-lock.json", "package.json")
    .concat("tsconfig.json", "vite.config.ts")
    .sort();
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(join(root, file)));
    hash.update("\0");
  }
  return hash.digest("hex");
}
