// expect: 'maxAtempts' does not exist
import { retry } from '../../index.ts'

void retry(() => 1, { maxAtempts: 3 })
