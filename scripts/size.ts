/** What a caller's bundle grows by: minified, gzipped, everything unused shaken off. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const LIMITS = [
  // The aim is 3.5 kB: ARCHITECTURE.md says where the rest is. This keeps it from growing meanwhile.
  { what: 'retry', code: `export { retry } from '@secondwind/resilience'`, maxGzipBytes: 9_750 },
]

for (const { what, code, maxGzipBytes } of LIMITS) {
  const { minifiedBytes, gzipBytes } = await measure(code)
  const fits = gzipBytes <= maxGzipBytes
  console.log(
    `${what}: ${minifiedBytes} bytes minified, ${gzipBytes} gzipped (limit ${maxGzipBytes}${fits ? '' : ': TOO BIG'})`,
  )
  if (!fits) process.exitCode = 1
}

async function measure(code: string): Promise<{ minifiedBytes: number; gzipBytes: number }> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
  })
  const bundle = outputFiles[0]!.contents
  return { minifiedBytes: bundle.length, gzipBytes: gzipSync(bundle, { level: 9 }).length }
}
