/** What is secret for whoever asks is secret for whoever answers: one rule for both. */
export { isSecretName, REDACTED, redactProblem } from '@secondwind/client'
