/** An error that S3 clients understand; the server sends it as XML. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  /** One of the codes of the S3 documentation. */
  readonly code: string
  readonly status: number
  /** The right region when the client signed for another one; clients retry with it. */
  readonly region: string | undefined
  constructor(code: string, status: number, message: string, region?: string) {
    super(message)
    this.code = code
    this.status = status
    this.region = region
  }
}
