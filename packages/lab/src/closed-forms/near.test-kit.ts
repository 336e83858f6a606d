/** For `assert.ok(...near(…))`: whether a number is as close as a published figure has digits, and what is wrong if not. */
export function near(
  actual: number | undefined,
  expected: number,
  within = 1e-6,
): [isNear: boolean, otherwise: string] {
  const isNear = actual !== undefined && Math.abs(actual - expected) <= within
  return [isNear, `${actual} is not ${expected} ± ${within}`]
}
