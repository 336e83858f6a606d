export { reportHtml } from './report.ts'
export type { Fact, ReportInput, ReportSection, ReportTable, Verdict } from './report.ts'
