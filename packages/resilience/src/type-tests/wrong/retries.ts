// expect: use maxAttempts: it counts all calls, the first included, so retries + 1
import { retry } from '../../index.ts'

void retry(() => 1, { retries: 3 })
