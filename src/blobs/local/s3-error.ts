/** An answer that S3 clients understand; it becomes XML where it leaves. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  /** One of the codes of the S3 documentation. */
  readonly code: string
  readonly status: number
  /** The region to sign for, where another one was stated: clients try again with it. */
  readonly region: string | undefined
  constructor(code: string, status: number, message: string, region?: string) {
    super(message)
    this.code = code
    this.status = status
    this.region = region
  }
}
