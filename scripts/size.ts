/** What a caller's bundle grows by: minified, gzipped, everything unused shaken off. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** Whole documents, and documents of others: nobody needs them at run time unless they are asked for. */
const LEFT_OUT = [
  'presets',
  'fromEnvoy',
  'toEnvoy',
  'fromGrpcServiceConfig',
  'toGrpcServiceConfig',
  'fromIstio',
  'toIstio',
]
const names = Object.keys(await import('@secondwind/resilience')).filter(name => !LEFT_OUT.includes(name))

// The aims are 3.5 and 14 kB: ARCHITECTURE.md says where the rest is. These keep it from growing meanwhile.
const LIMITS = [
  { what: 'retry', code: exporting('retry'), maxGzipBytes: 10_282 },
  { what: 'the main entry', code: exporting(...names), maxGzipBytes: 36_993 },
]

for (const { what, code, maxGzipBytes } of LIMITS) {
  const { minifiedBytes, gzipBytes } = await measure(code)
  const fits = gzipBytes <= maxGzipBytes
  console.log(
    `${what}: ${minifiedBytes} bytes minified, ${gzipBytes} gzipped (limit ${maxGzipBytes}${fits ? '' : ': TOO BIG'})`,
  )
  if (!fits) process.exitCode = 1
}

function exporting(...what: readonly string[]): string {
  return `export { ${what.join(', ')} } from '@secondwind/resilience'`
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
