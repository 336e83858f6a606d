import { describeHistories } from '../exam/histories.test-kit.ts'
import { describeStore } from '../store.conformance.ts'
import { openInMemory, openTemporarySqliteStore } from './sqlite.test-kit.ts'

describeStore('sqlite', openTemporarySqliteStore)
describeStore('memory', openInMemory)
// Each opens a file and a thread; those in memory run the same verbs.
describeHistories('sqlite', openTemporarySqliteStore, { runs: 20 })
describeHistories('memory', openInMemory)
