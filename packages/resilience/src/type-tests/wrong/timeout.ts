// expect: use attemptTimeoutMs for one call, totalBudgetMs for all of them together
import { retry } from '../../index.ts'

void retry(() => 1, { timeout: 1_000 })
