import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from './caller.ts'
import { DESTINATION, refuse, refuseUnless } from './check/fields.ts'
import { listing, type Listing } from './listing.ts'
import type {
  Destination,
  DestinationFilter,
  DestinationSettingsInput,
  ForceInput,
  PauseInput,
  ResumeInput,
  Why,
} from './wire/destination.ts'
import type { Page } from './wire/page.ts'

/** `/destinations`. A destination is named by the name it was given, or by its origin. */
export interface Destinations {
  /** By origin: every destination that has had a task; with `hasSettings`, those that you have set something for instead. */
  list(filter?: DestinationFilter, call?: Call): Listing<Destination>
  get(name: string, call?: Call): Promise<Destination>
  /** Its name and limits, all of them: what is left out is as for every destination. */
  put(name: string, settings: DestinationSettingsInput, call?: Call): Promise<Destination>
  /** Nothing is sent; tasks wait, and none is dropped. `tasks.attemptNow` passes a pause of a tenant. */
  pause(name: string, pause?: PauseInput, call?: ChangeCall): Promise<Destination>
  /** Step by step; under a stop rule it is paused again when too much fails. */
  resume(name: string, ramp?: ResumeInput, call?: ChangeCall): Promise<Destination>
  /** No new tasks are taken for it; what waits goes on. */
  drain(name: string, why?: Why, call?: ChangeCall): Promise<Destination>
  undrain(name: string, why?: Why, call?: ChangeCall): Promise<Destination>
  /** Sets its breaker by hand; `auto` lets it open and close by itself again. */
  force(name: string, force: ForceInput, call?: ChangeCall): Promise<Destination>
}

const PATH = '/destinations'

export function destinationsOf(caller: Caller): Destinations {
  // Sent twice they mean the same: a caller without an answer may ask again.
  const change = async (
    name: string,
    verb: string,
    body: object,
    { signal, ifVersion }: ChangeCall = {},
  ): Promise<Destination> =>
    caller.ask({
      method: 'POST',
      mark: 'destination',
      path: `${pathOf(name)}/${verb}`,
      body,
      ...onVersion(ifVersion),
      signal,
    })
  return {
    list(filter = {}, { signal } = {}) {
      refuse('destinations cannot be listed', check.checkFields(filter, FILTER_FIELDS))
      const read = (page: object): Promise<Page<Destination>> =>
        caller.ask({ method: 'GET', mark: 'items', path: PATH, query: { ...filter, ...page }, signal })
      return listing(read)
    },
    get: async (name, { signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'destination', path: pathOf(name), signal }),
    put: async (name, body, { signal } = {}) =>
      caller.ask({
        method: 'PUT',
        mark: 'destination',
        path: `${pathOf(name)}/settings`,
        body,
        idempotent: body.version === undefined,
        signal,
      }),
    pause: (name, pause = {}, call) => change(name, 'pause', pause, call),
    resume: (name, ramp = {}, call) => change(name, 'resume', ramp, call),
    drain: (name, why = {}, call) => change(name, 'drain', why, call),
    undrain: (name, why = {}, call) => change(name, 'undrain', why, call),
    force: (name, force, call) => change(name, 'force', force, call),
  }
}

const FILTER_FIELDS: { readonly [field in keyof DestinationFilter]-?: check.FieldCheck } = {
  hasSettings: value => (value === true ? undefined : 'true, or left out'),
}

/** Dots alone would lead elsewhere, encoded or not. */
const NAME: check.FieldCheck = value =>
  check.text(300)(value) === undefined && DESTINATION(value) === undefined && !/^\.{1,2}$/.test(String(value))
    ? undefined
    : 'a name, or an origin such as https://api.example'

function pathOf(name: string): string {
  refuseUnless(NAME, 'name', name, 'there is no such destination')
  return `${PATH}/${encodeURIComponent(name)}`
}
