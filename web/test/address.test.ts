import { expect, it } from "vitest";
import { packed, unpacked } from "../src/address.ts";
import { dice } from "./made.ts";

it("numbers that are packed come back", () => {
  for (let seed = 0; seed < 40; seed++) {
    const roll = dice(seed);
    const some = [...new Set(Array.from({ length: roll(60) }, () => roll(2000)))].sort((a, b) => a - b);
    expect(unpacked(packed(some), 2000)).toEqual(some);
  }
  expect(packed([3, 4, 5, 6, 40])).toBe("3-3,y");
});

it("what is no list of numbers gives what can be read of it, below the limit", () => {
  expect(unpacked("", 9)).toEqual([]);
  expect(unpacked("?,1", 9)).toEqual([]);
  expect(unpacked("1,-", 9)).toEqual([1]);
  expect(unpacked("2-zzzzzz", 9)).toEqual([2, 3, 4, 5, 6, 7, 8]);
});
