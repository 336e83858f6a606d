import { COLOURS } from '../plots/svg/theme.ts'

const { light, dark } = COLOURS

/** The report's own colours are those of its pictures. */
export const STYLE: string = `
:root{color-scheme:light dark;--page:${light.page};--ink:${light.ink};--quiet:${light.quiet};--line:${light.line};--good:${light.ok};--bad:${light.dead};--accent:${light.running}}
@media (prefers-color-scheme:dark){:root{--page:${dark.page};--ink:${dark.ink};--quiet:${dark.quiet};--line:${dark.line};--good:${dark.ok};--bad:${dark.dead};--accent:${dark.running}}}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}
main{max-width:60rem;margin:0 auto;padding:24px 16px 48px}
h1{font-size:26px;line-height:1.25;margin:0 0 12px;overflow-wrap:anywhere}
h2{font-size:19px;margin:36px 0 8px;overflow-wrap:anywhere}
p{max-width:44rem;overflow-wrap:anywhere}
.verdict{font-size:17px;border-left:4px solid var(--accent);padding:4px 0 4px 14px;margin:0 0 20px}
.verdict.good{border-color:var(--good)}.verdict.good strong{color:var(--good)}
.verdict.bad{border-color:var(--bad)}.verdict.bad strong{color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:12px;margin:0}
.facts div{border:1px solid var(--line);border-radius:6px;padding:8px 14px;min-width:8rem}
dt{color:var(--quiet);font-size:13px}
dd{margin:0;font-size:20px;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd.note{font-size:13px;color:var(--quiet)}
figure{margin:8px 0}
.frame{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
.frame:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.frame svg{display:block;min-width:560px;width:100%;height:auto}
.live .frame{cursor:crosshair}
output{display:block;min-height:1.6em;margin:6px 0;font-variant-numeric:tabular-nums}
output b{margin-right:14px}output span{margin-right:14px;white-space:nowrap}
.toggles{display:flex;flex-wrap:wrap;gap:4px 18px;border:0;padding:0;margin:6px 0}
.toggles legend{padding:0;color:var(--quiet);font-size:13px}
.hidden{display:none}.faded{opacity:.35}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:4px 12px;border-bottom:1px solid var(--line);text-align:right}
th:first-child{text-align:left}thead th{color:var(--quiet);font-weight:500}
.frame table{width:100%}
details table{display:block;max-height:24rem;overflow:auto}
summary{cursor:pointer;color:var(--accent)}
pre{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:10px 14px;font:13px/1.6 ui-monospace,'DejaVu Sans Mono',monospace}
footer{margin-top:40px;color:var(--quiet);font-size:13px;overflow-wrap:anywhere}
@media print{output,.toggles{display:none}}
`
