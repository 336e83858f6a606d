import { describeBodyStore } from '../body-store.conformance.ts'
import { openMemoryBodies } from './memory-bodies.ts'

describeBodyStore('memory', async clock => ({ bodies: openMemoryBodies({ clock }), age: ms => clock.advance(ms) }))
