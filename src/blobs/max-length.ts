/**
 * Query parameter of a presigned address: the upload's bound in bytes, signed with the rest. The embedded storage cuts the
 * stream there; S3 ignores parameters that begin with `x-`, and its objects are measured afterwards.
 */
export const MAX_LENGTH = 'x-svc-max-length'
