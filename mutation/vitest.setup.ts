import fc from 'fast-check'

// The same seed every time, so that two runs on the same code agree; and a counter-example needs no polish here.
fc.configureGlobal({ seed: 1, endOnFailure: true })
