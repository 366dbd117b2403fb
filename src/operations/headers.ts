/**
 * Header with a person's credential. A request without it has the channel's local identity; an invalid credential is
 * refused.
 */
export const OPERATOR_KEY_HEADER = 'x-operator-key'

/** Carries the half of a console session that the page keeps, beside the cookie. */
export const PAGE_KEY_HEADER = 'x-svc-page-key'
