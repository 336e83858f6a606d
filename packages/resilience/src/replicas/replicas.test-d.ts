import { failOver, replicas } from './run.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

interface Client {
  readonly name: string
  get(): Promise<number>
}
declare const clients: Client[]

// The work is handed what was listed.
const answered = replicas(clients).run(client => client.get())
holds<Same<typeof answered, Promise<number>>>()
const address = replicas({ replicas: ['a', 'b'], choice: 'random' }).run(address => address)
holds<Same<typeof address, Promise<'a' | 'b'>>>()
const elsewhere = failOver({ home: clients[0]!, others: clients }).run(({ name }) => name)
holds<Same<typeof elsewhere, Promise<string>>>()
// @ts-expect-error whoever has no name cannot be set back
replicas([{ url: 'a' }])
