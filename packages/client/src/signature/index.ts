/** `@secondwind/client/signature`: for who receives deliveries and does not ask the service anything. */
export { verifySignature, SignatureError } from './verify-signature.ts'
export type { SignatureErrorCode, SignedRequest, VerifiedDelivery, VerifyOptions } from './verify-signature.ts'
export {
  ID_HEADER,
  readSignatures,
  secretBytes,
  SIGNATURE_HEADER,
  signedHead,
  TIMESTAMP_HEADER,
  writeSignature,
} from './standard-webhooks.ts'
