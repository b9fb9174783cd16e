import { expect, it } from "vitest";
import { cycles, decimal, duration, number, percent } from "../src/text.ts";

it.each([[0, "0"], [999, "999"], [1000, "1,000"], [1489329, "1,489,329"]])("%d is written %s", (value, text) => {
  expect(number(value)).toBe(text);
});

it.each([[1, 3, "33.3 %"], [0, 9, "0.0 %"], [9, 9, "100.0 %"], [1, 1e6, "<0.1 %"], [999999, 1e6, ">99.9 %"], [1, 8, "12.5 %"], [1, 0, "0.0 %"]])(
  "%d of %d is %s", (part, whole, text) => expect(percent(part, whole)).toBe(text),
);

it("tenths where they are, none where not", () => {
  expect([4, 4.04, 4.25, 1234.96].map(decimal)).toEqual(["4", "4", "4.3", "1,235"]);
  expect([cycles(1), cycles(2)]).toEqual(["1 cycle", "2 cycles"]);
  expect([500, 7140, 4_966_912, 2e12].map(duration)).toEqual(["500 ps", "7.14 ns", "4.967 µs", "2 s"]);
});
