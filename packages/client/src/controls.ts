import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from './caller.ts'
import { refuse, refuseUnless, UUID } from './check/fields.ts'
import { listing, type Listing } from './listing.ts'
import type { Control, ControlInput, ControlPreview, ControlState } from './wire/control.ts'
import type { Page } from './wire/page.ts'

/** `/controls`: the kill switch. */
export interface Controls {
  /** In force over the whole fleet within two seconds; nothing is dropped. */
  create(control: ControlInput, call?: Call): Promise<Control>
  /** What it would hold; nothing is written. */
  preview(control: ControlInput, call?: Call): Promise<ControlPreview>
  /** What is in force, the newest first; with `ended`, what ended within the last day too. */
  list(filter?: { readonly ended?: boolean }, call?: Call): Listing<Control>
  get(controlId: string, call?: Call): Promise<Control>
  /** What it held comes back step by step. */
  end(controlId: string, why?: { readonly reason?: string }, call?: ChangeCall): Promise<Control>
  /** What a library has to know; `followControls` asks for it. */
  state(call?: Call): Promise<ControlState>
}

const PATH = '/controls'

export function controlsOf(caller: Caller): Controls {
  const post = <Answer>(body: object, idempotent: boolean, { signal }: Call): Promise<Answer> =>
    caller.ask({ method: 'POST', mark: 'level', path: PATH, body, idempotent, signal })
  return {
    // Not asked again: of two controls one would be left when the other is ended.
    create: async (control, call = {}) => post(control, false, call),
    preview: async (control, call = {}) => post({ ...control, preview: true }, true, call),
    list(filter = {}, { signal } = {}) {
      refuse('controls cannot be listed', check.checkFields(filter, { ended: check.flag }))
      return listing(page =>
        caller.ask<Page<Control>>({ method: 'GET', mark: 'items', path: PATH, query: { ...filter, ...page }, signal }),
      )
    },
    get: async (controlId, { signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'controlId', path: pathOf(controlId), signal }),
    end: async (controlId, why = {}, { signal, ifVersion } = {}) =>
      caller.ask({
        method: 'DELETE',
        mark: 'controlId',
        path: pathOf(controlId),
        query: why,
        ...onVersion(ifVersion),
        signal,
      }),
    state: async ({ signal } = {}) => caller.ask({ method: 'GET', mark: 'controls', path: `${PATH}/state`, signal }),
  }
}

function pathOf(controlId: string): string {
  refuseUnless(UUID, 'controlId', controlId, 'there is no such control')
  return `${PATH}/${controlId}`
}
