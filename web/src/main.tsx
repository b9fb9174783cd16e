import "./style.css";
import { render } from "preact";
import { App } from "./App.tsx";
import { unpack } from "./data.ts";
import { remember } from "./address.ts";
import { arrive } from "./reveal.ts";
import { profiles } from "./state.ts";

async function start(page: HTMLElement): Promise<void> {
  const blocks = document.querySelectorAll<HTMLScriptElement>(
    'script[type="application/vnd.cyclescope"]',
  );
  const read = [];
  for (const block of blocks) {
    read.push(await unpack(block.dataset["name"] ?? "", block.textContent ?? ""));
    block.remove(); // the text is as large again as what was read from it
  }
  if (!read.length) throw new Error("no profile in it; make it with `cyclescope report`");
  profiles.value = read;
  remember();
  page.textContent = "";
  render(<App />, page);
  arrive();
  document.documentElement.dataset["ready"] = "yes";
}

const page = document.getElementById("app")!;
start(page).catch((error: unknown) => {
  page.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : error}`;
  page.setAttribute("role", "alert");
  console.error(error);
});
