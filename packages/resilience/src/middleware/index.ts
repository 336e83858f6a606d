/** `@secondwind/resilience/middleware`: deadlines and limits in front of handlers. Switches `./context` on. */
export { createAdmission, type Admission, type AdmissionOptions } from './admission.ts'
export { DEFAULT_ADMISSION, type AdmissionInput, type AdmissionPolicy } from './policy.ts'
export { arrivalOf, type Arrival } from './visit.ts'
