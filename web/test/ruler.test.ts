import { expect, test } from "vitest";
import { ticks } from "../src/ruler.ts";

test("without a clock the ruler counts cycles", () => {
  expect(ticks({ from: 0, to: 1000 }, 440, null)).toEqual([[0, "0"], [500, "500"]]);
  expect(ticks({ from: 1_000_100, to: 1_000_110 }, 330, null).map(([, label]) => label)).toEqual(["1,000,100", "1,000,105"]);
});

test("with a clock its marks are round times", () => {
  const found = ticks({ from: 0, to: 1000 }, 440, 7143);
  expect(found.map(([, label]) => label)).toEqual(["0 µs", "2 µs", "4 µs", "6 µs"]);
  for (const [cycle, label] of found) expect(cycle * 7143).toBeCloseTo(Number.parseFloat(label) * 1e6, 3);
});

test("labels of a part of a long run differ", () => {
  const labels = ticks({ from: 10_000_000, to: 10_000_100 }, 660, 10_000).map(([, label]) => label);
  expect(labels[0]).toBe("100.0000 ms");
  expect(new Set(labels).size).toBe(labels.length);
  expect(labels.length).toBeGreaterThan(3);
});
