/** What is secret for whoever asks is secret for whoever answers: one rule for both. */
export { isSecretName, REDACTED, redactProblem, redactText } from '@secondwind/client'
