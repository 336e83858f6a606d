// expect: Type '"full"' is not assignable to type
import { retry } from '../../index.ts'

void retry(() => 1, { jitterType: 'full' })
