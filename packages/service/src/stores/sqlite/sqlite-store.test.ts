import { describeHistories } from '../exam/histories.test-kit.ts'
import { describeStore } from '../store.conformance.ts'
import { openInMemory, openTemporarySqliteStore } from './sqlite.test-kit.ts'

describeStore('sqlite', openTemporarySqliteStore)
describeStore('memory', openInMemory)
describeHistories('sqlite', openTemporarySqliteStore)
describeHistories('memory', openInMemory)
