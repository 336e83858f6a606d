/** A program that charges an order, and says what became of it: `{"kind":"handed-over",…}`. Whoever started it ends it. */
import { charge } from './charge.test-kit.ts'

const [serviceUrl, paymentsUrl, order] = process.argv.slice(2) as [string, string, string]
const keepAlive = setInterval(() => {}, 60_000)
try {
  console.log(JSON.stringify(await charge({ order, serviceUrl, paymentsUrl })))
} catch (error) {
  clearInterval(keepAlive)
  throw error
}
