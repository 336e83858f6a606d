import { describeTaskStore } from '../task-store.conformance.ts'
import { openMemoryStore } from './memory-store.ts'

describeTaskStore('memory', async ({ clock }) => ({ store: openMemoryStore({ clock }), isShared: true }))
