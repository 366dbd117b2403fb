/**
 * Query parameter of a presigned address: the maximum size of the upload in bytes, covered by the signature. The embedded
 * storage stops the stream there; S3 ignores parameters that begin with `x-`, so its objects are measured after the upload.
 */
export const MAX_LENGTH_PARAMETER = 'x-svc-max-length'
