/** Work that waits in line: so much of it is under way at once, in the order in which it came. */
export function createLine(most: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async work => {
    if (underWay < most) underWay++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) underWay--
      else next()
    }
  }
}
