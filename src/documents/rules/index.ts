import type { Rule } from '../rule.ts'
import { allAllow } from './all-allow.ts'
import { allowEverything } from './allow-everything.ts'
import { allowListAmbiguous } from './allow-list-ambiguous.ts'
import { allowValueImpossible } from './allow-value-impossible.ts'
import { allowWithoutType } from './allow-without-type.ts'
import { alwaysTrue } from './always-true.ts'
import { anchorAcrossPolicy } from './anchor-across-policy.ts'
import { attachmentDuplicate } from './attachment-duplicate.ts'
import { attachmentMissing } from './attachment-missing.ts'
import { authorityDuplicate } from './authority-duplicate.ts'
import { authorityRefAuth } from './authority-ref-auth.ts'
import { authorityUnresolved } from './authority-unresolved.ts'
import { baseUrlFullPath } from './base-url-full-path.ts'
import { baseUrlInsecure } from './base-url-insecure.ts'
import { baseUrlInvalid } from './base-url-invalid.ts'
import { blanketAllowIrreversible } from './blanket-allow-irreversible.ts'
import { blockAlias } from './block-alias.ts'
import { caseCollision } from './case-collision.ts'
import { caseSensitiveEmail } from './case-sensitive-email.ts'
import { childExceedsParent } from './child-exceeds-parent.ts'
import { classLowered } from './class-lowered.ts'
import { classMissing } from './class-missing.ts'
import { classSuspicious } from './class-suspicious.ts'
import { classificationUnused } from './classification-unused.ts'
import { conditionField } from './condition-field.ts'
import { conditionSyntax } from './condition-syntax.ts'
import { confusable } from './confusable.ts'
import { contradiction } from './contradiction.ts'
import { countRange } from './count-range.ts'
import { dataUriImage } from './data-uri-image.ts'
import { depthExceeded } from './depth-exceeded.ts'
import { mcpDescriptionChanged } from './description-changed.ts'
import { descriptionDrift } from './description-drift.ts'
import { descriptionInstructsOtherTool } from './description-instructs-other-tool.ts'
import { toolDescriptionMissing } from './description-missing.ts'
import { duplicateIdentity } from './duplicate-identity.ts'
import { envMissing } from './env-missing.ts'
import { envName } from './env-name.ts'
import { escalateNobody } from './escalate-nobody.ts'
import { escalateUnhandled } from './escalate-unhandled.ts'
import { execTool } from './exec-tool.ts'
import { externalUnpinned } from './external-unpinned.ts'
import { failOpenIfMissing } from './fail-open-if-missing.ts'
import { fieldNotInSchema } from './field-not-in-schema.ts'
import { fieldsIgnored } from './fields-ignored.ts'
import { fileName } from './file-name.ts'
import { formRules } from './form.ts'
import { fullTrace } from './full-trace.ts'
import { hiddenTimeline } from './hidden-timeline.ts'
import { hiddenUnicode } from './hidden-unicode.ts'
import { mcpHintConflict } from './hint-conflict.ts'
import { hitlShorterThanTimeout } from './hitl-shorter-than-timeout.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { ineffective } from './ineffective.ts'
import { injectionPhrase } from './injection-phrase.ts'
import { inputMismatch } from './input-mismatch.ts'
import { inputWidened } from './input-widened.ts'
import { instructionsEmpty } from './instructions-empty.ts'
import { instructionsMissingFile } from './instructions-missing-file.ts'
import { instructionsPlaceholder } from './instructions-placeholder.ts'
import { instructionsVersionAmbiguous } from './instructions-version-ambiguous.ts'
import { invalidSemver } from './invalid-semver.ts'
import { irreversibleWithoutApproval } from './irreversible-without-approval.ts'
import { lateBoundAuthority } from './late-bound-authority.ts'
import { lethalTrifecta } from './lethal-trifecta.ts'
import { limitsMissingLoop } from './limits-missing-loop.ts'
import { limitsMissingTokens } from './limits-missing-tokens.ts'
import { limitsNonPositive } from './limits-non-positive.ts'
import { lockDrift } from './lock-drift.ts'
import { lockMissing } from './lock-missing.ts'
import { authorityLoosened } from './loosened.ts'
import { mcpHeaderIgnored } from './mcp-header-ignored.ts'
import { mcpHeaderInvalid } from './mcp-header-invalid.ts'
import { mcpNoAuth } from './mcp-no-auth.ts'
import { mcpNoContract } from './mcp-no-contract.ts'
import { mcpNotPinned } from './mcp-not-pinned.ts'
import { mcpSecretUndeclared } from './mcp-secret-undeclared.ts'
import { mcpServerDuplicate } from './mcp-server-duplicate.ts'
import { mcpServerUndeclared } from './mcp-server-undeclared.ts'
import { mcpServerUnused } from './mcp-server-unused.ts'
import { mcpUrlInternal } from './mcp-url-internal.ts'
import { mcpUrlNotHttps } from './mcp-url-not-https.ts'
import { mixedScript } from './mixed-script.ts'
import { modelSecretUndeclared } from './model-secret-undeclared.ts'
import { modifyAccept } from './modify-accept.ts'
import { multipleDocuments } from './multiple-documents.ts'
import { needsBundle } from './needs-bundle.ts'
import { neverTrue } from './never-true.ts'
import { policyNoDecision } from './no-decision.ts'
import { noInputSchema } from './no-input-schema.ts'
import { noTimeout } from './no-timeout.ts'
import { noToolsButPolicies } from './no-tools-but-policies.ts'
import { onInvalidWithoutSchema } from './on-invalid-without-schema.ts'
import { onModifyValue } from './on-modify-value.ts'
import { onRejectValue } from './on-reject-value.ts'
import { optionalField } from './optional-field.ts'
import { optionsSecret } from './options-secret.ts'
import { optionsShadow } from './options-shadow.ts'
import { authorityOrphanRef } from './orphan-ref.ts'
import { outputExceedsRun } from './output-exceeds-run.ts'
import { ownApiKey } from './own-api-key.ts'
import { ownerMissing } from './owner-missing.ts'
import { parameterRange } from './parameter-range.ts'
import { pathEscape } from './path-escape.ts'
import { patternInvalid } from './pattern-invalid.ts'
import { patternUnanchored } from './pattern-unanchored.ts'
import { policyCost } from './policy-cost.ts'
import { prefixUrl } from './prefix-url.ts'
import { toolPrerelease } from './prerelease.ts'
import { privateResultFull } from './private-result-full.ts'
import { probeUnusable } from './probe-unusable.ts'
import { providerTypo } from './provider-typo.ts'
import { purposeAsPrompt } from './purpose-as-prompt.ts'
import { quorumUnreachable } from './quorum-unreachable.ts'
import { rangeTooWide } from './range-too-wide.ts'
import { reasonMissing } from './reason-missing.ts'
import { redundantLeaf } from './redundant-leaf.ts'
import { riskTierMismatch } from './risk-tier-mismatch.ts'
import { rootMissing } from './root-missing.ts'
import { runtimePrefix } from './runtime-prefix.ts'
import { schemaDefaultInvalid } from './schema-default-invalid.ts'
import { schemaEmptyRange } from './schema-empty-range.ts'
import { schemaInvalid } from './schema-invalid.ts'
import { schemaNotObject } from './schema-not-object.ts'
import { schemaNumberForMoney } from './schema-number-for-money.ts'
import { schemaOpenObject } from './schema-open-object.ts'
import { schemaPrototypeName } from './schema-prototype-name.ts'
import { schemaRefLoop } from './schema-ref-loop.ts'
import { schemaRefMissing } from './schema-ref-missing.ts'
import { schemaRemoteRef } from './schema-remote-ref.ts'
import { schemaRequiredUndefined } from './schema-required-undefined.ts'
import { schemaUnboundedString } from './schema-unbounded-string.ts'
import { schemaUnsafePattern } from './schema-unsafe-pattern.ts'
import { schemaUnsupportedKeyword } from './schema-unsupported-keyword.ts'
import { schemaWithoutJson } from './schema-without-json.ts'
import { scopeMismatch } from './scope-mismatch.ts'
import { scopeSyntax } from './scope-syntax.ts'
import { scopeUnknownTool } from './scope-unknown-tool.ts'
import { secretConflict } from './secret-conflict.ts'
import { secretFile } from './secret-file.ts'
import { secretImplicitMissing } from './secret-implicit-missing.ts'
import { secretInArgs } from './secret-in-args.ts'
import { secretInUrl } from './secret-in-url.ts'
import { secretLiteral } from './secret-literal.ts'
import { secretUnused } from './secret-unused.ts'
import { selfApproval } from './self-approval.ts'
import { policyShadowed } from './shadowed.ts'
import { stopEmpty } from './stop-empty.ts'
import { strictMissing } from './strict-missing.ts'
import { strictWithoutSchema } from './strict-without-schema.ts'
import { subagentCycle } from './subagent-cycle.ts'
import { subagentDescriptionMissing } from './subagent-description-missing.ts'
import { subagentMissing } from './subagent-missing.ts'
import { subagentRange } from './subagent-range.ts'
import { subagentRefForm } from './subagent-ref-form.ts'
import { subagentVersionConflict } from './subagent-version-conflict.ts'
import { substringList } from './substring-list.ts'
import { symlink } from './symlink.ts'
import { timeoutAllowIrreversible } from './timeout-allow-irreversible.ts'
import { timeoutAllow } from './timeout-allow.ts'
import { timeoutRange } from './timeout-range.ts'
import { tooManyTools } from './too-many.ts'
import { toolDuplicateBinding } from './tool-duplicate-binding.ts'
import { toolRangeInvalid } from './tool-range-invalid.ts'
import { toolRefSyntax } from './tool-ref-syntax.ts'
import { toolUnpinned } from './tool-unpinned.ts'
import { toolUnresolved } from './tool-unresolved.ts'
import { typeMismatch } from './type-mismatch.ts'
import { unaddressable } from './unaddressable.ts'
import { unreachableApproval } from './unreachable-approval.ts'
import { unreferencedFile } from './unreferenced-file.ts'
import { policyUntested } from './untested.ts'
import { untrustedSteersWrite } from './untrusted-steers-write.ts'
import { unusedPolicy } from './unused-policy.ts'
import { unusedTool } from './unused-tool.ts'
import { urlArgumentOpen } from './url-argument-open.ts'
import { valueInFromEnv } from './value-in-from-env.ts'
import { versionReused } from './version-reused.ts'
import { versionWithoutRef } from './version-without-ref.ts'
import { widensAuthority } from './widens-authority.ts'
import { wireNameCollision } from './wire-name-collision.ts'
import { wireNameInvalid } from './wire-name-invalid.ts'
import { wireNameShadow } from './wire-name-shadow.ts'
import { writeWithoutApproval } from './write-without-approval.ts'
import { yaml11Boolean } from './yaml11-boolean.ts'
import { bundleYanked } from './yanked.ts'

/** Every rule, in the order of the reference: form, identity, agent, model, secrets, limits, output, schemas, tools, MCP, sub-agents, policies, approvals, authority, bundle, security. */
export const rules: readonly Rule[] = [
  ...formRules,
  multipleDocuments,
  yaml11Boolean,
  anchorAcrossPolicy,
  versionWithoutRef,
  invalidSemver,
  unaddressable,
  duplicateIdentity,
  versionReused,
  fileName,
  confusable,
  purposeAsPrompt,
  instructionsMissingFile,
  instructionsEmpty,
  instructionsPlaceholder,
  instructionsVersionAmbiguous,
  needsBundle,
  noToolsButPolicies,
  ownerMissing,
  riskTierMismatch,
  classificationUnused,
  baseUrlInvalid,
  baseUrlInsecure,
  baseUrlFullPath,
  modelSecretUndeclared,
  secretImplicitMissing,
  providerTypo,
  parameterRange,
  outputExceedsRun,
  optionsShadow,
  optionsSecret,
  stopEmpty,
  secretLiteral,
  valueInFromEnv,
  envName,
  secretUnused,
  mcpSecretUndeclared,
  envMissing,
  secretConflict,
  secretInUrl,
  ownApiKey,
  limitsNonPositive,
  limitsMissingLoop,
  limitsMissingTokens,
  hitlShorterThanTimeout,
  escalateNobody,
  childExceedsParent,
  depthExceeded,
  schemaWithoutJson,
  strictWithoutSchema,
  onInvalidWithoutSchema,
  strictMissing,
  escalateUnhandled,
  schemaRefMissing,
  schemaInvalid,
  schemaUnsupportedKeyword,
  schemaRemoteRef,
  schemaNotObject,
  schemaRequiredUndefined,
  schemaOpenObject,
  schemaUnboundedString,
  schemaUnsafePattern,
  schemaRefLoop,
  schemaEmptyRange,
  schemaDefaultInvalid,
  schemaPrototypeName,
  schemaNumberForMoney,
  toolRefSyntax,
  toolRangeInvalid,
  toolUnresolved,
  toolUnpinned,
  rangeTooWide,
  toolPrerelease,
  toolDuplicateBinding,
  wireNameInvalid,
  wireNameCollision,
  wireNameShadow,
  toolDescriptionMissing,
  descriptionDrift,
  classMissing,
  classLowered,
  classSuspicious,
  inputWidened,
  noInputSchema,
  idempotencyKey,
  probeUnusable,
  tooManyTools,
  unusedTool,
  mcpServerUndeclared,
  mcpServerDuplicate,
  mcpServerUnused,
  mcpUrlNotHttps,
  mcpUrlInternal,
  mcpHeaderIgnored,
  mcpHeaderInvalid,
  mcpNoAuth,
  mcpNoContract,
  mcpNotPinned,
  mcpDescriptionChanged,
  mcpHintConflict,
  subagentRefForm,
  subagentMissing,
  subagentCycle,
  subagentVersionConflict,
  subagentRange,
  lateBoundAuthority,
  subagentDescriptionMissing,
  widensAuthority,
  fullTrace,
  inputMismatch,
  policyNoDecision,
  attachmentMissing,
  attachmentDuplicate,
  scopeSyntax,
  scopeMismatch,
  scopeUnknownTool,
  conditionSyntax,
  conditionField,
  fieldNotInSchema,
  typeMismatch,
  patternInvalid,
  patternUnanchored,
  prefixUrl,
  substringList,
  caseSensitiveEmail,
  optionalField,
  failOpenIfMissing,
  neverTrue,
  alwaysTrue,
  contradiction,
  redundantLeaf,
  policyShadowed,
  unreachableApproval,
  allowWithoutType,
  allowListAmbiguous,
  allowValueImpossible,
  allowEverything,
  authorityRefAuth,
  blockAlias,
  runtimePrefix,
  policyCost,
  policyUntested,
  unusedPolicy,
  countRange,
  quorumUnreachable,
  timeoutAllowIrreversible,
  timeoutAllow,
  timeoutRange,
  noTimeout,
  onRejectValue,
  onModifyValue,
  modifyAccept,
  fieldsIgnored,
  hiddenTimeline,
  reasonMissing,
  authorityUnresolved,
  authorityOrphanRef,
  authorityDuplicate,
  ineffective,
  allAllow,
  authorityLoosened,
  rootMissing,
  pathEscape,
  symlink,
  caseCollision,
  unreferencedFile,
  lockMissing,
  lockDrift,
  bundleYanked,
  externalUnpinned,
  secretFile,
  lethalTrifecta,
  irreversibleWithoutApproval,
  writeWithoutApproval,
  blanketAllowIrreversible,
  untrustedSteersWrite,
  hiddenUnicode,
  mixedScript,
  injectionPhrase,
  descriptionInstructsOtherTool,
  execTool,
  urlArgumentOpen,
  secretInArgs,
  dataUriImage,
  privateResultFull,
  selfApproval,
]
