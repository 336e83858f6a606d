import { describeStore } from '../store.conformance.ts'
import { openModel } from './model.test-kit.ts'

describeStore('model', async ({ clock }) => ({ store: openModel({ clock }) }))
