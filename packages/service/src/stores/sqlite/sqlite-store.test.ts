import { describeTaskStore } from '../task-store.conformance.ts'
import { openTemporarySqliteStore } from './sqlite.test-kit.ts'

describeTaskStore('sqlite', openTemporarySqliteStore)
