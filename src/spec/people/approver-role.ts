/** Roles that an approver needs, as one text: `finance`, or `finance and legal` where policies name several. */
const AND = ' and '

export const joinRoles = (roles: readonly string[]): string => [...new Set(roles)].sort().join(AND)

export const splitRoles = (needed: string | undefined): readonly string[] => needed?.split(AND) ?? []

/** True for somebody who has every role. A single role may itself be called `research and development`. */
export const hasNeededRoles = (roles: readonly string[], needed: string | undefined): boolean =>
  needed === undefined || roles.includes(needed) || splitRoles(needed).every((role) => roles.includes(role))
