import { afterAll, afterEach, beforeAll, vi } from 'vitest'

/**
 * For a whole file: timers fire as soon as nothing else is left to do, and the clock says what it would have said.
 * So the recipes can be what a program would contain, real defaults and all, and still take no time.
 */
export function instantTime(): void {
  // Once for the file and not for each test: a timer of the library's clock must not be taken away under its hands.
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    vi.setTimerTickMode('nextTimerAsync')
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
  afterAll(() => void vi.useRealTimers())
}
