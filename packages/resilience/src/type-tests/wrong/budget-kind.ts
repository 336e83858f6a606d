// expect: 'windowMs' is missing
import { createBudget } from '../../index.ts'

createBudget({ kind: 'ratio', ratio: 0.1, minRetries: 10 })
