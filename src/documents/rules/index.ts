/** All lint rules, in the order of the reference page. A rule's path is its id. */
import type { LintRule } from '../facts/rule.ts'
import { classificationUnused } from './agent/classification-unused.ts'
import { instructionsEmpty } from './agent/instructions-empty.ts'
import { instructionsMissingFile } from './agent/instructions-missing-file.ts'
import { instructionsPlaceholder } from './agent/instructions-placeholder.ts'
import { instructionsVersionAmbiguous } from './agent/instructions-version-ambiguous.ts'
import { needsBundle } from './agent/needs-bundle.ts'
import { noToolsButPolicies } from './agent/no-tools-but-policies.ts'
import { ownerMissing } from './agent/owner-missing.ts'
import { purposeAsPrompt } from './agent/purpose-as-prompt.ts'
import { riskTierMismatch } from './agent/risk-tier-mismatch.ts'
import { countRange } from './approval/count-range.ts'
import { fieldsIgnored } from './approval/fields-ignored.ts'
import { hiddenTimeline } from './approval/hidden-timeline.ts'
import { modifyAccept } from './approval/modify-accept.ts'
import { noTimeout } from './approval/no-timeout.ts'
import { onModifyValue } from './approval/on-modify-value.ts'
import { onRejectValue } from './approval/on-reject-value.ts'
import { quorumUnreachable } from './approval/quorum-unreachable.ts'
import { reasonMissing } from './approval/reason-missing.ts'
import { timeoutAllowIrreversible } from './approval/timeout-allow-irreversible.ts'
import { timeoutAllow } from './approval/timeout-allow.ts'
import { timeoutRange } from './approval/timeout-range.ts'
import { allAllow } from './authority/all-allow.ts'
import { authorityDuplicate } from './authority/duplicate.ts'
import { ineffective } from './authority/ineffective.ts'
import { authorityLoosened } from './authority/loosened.ts'
import { authorityOrphanRef } from './authority/orphan-ref.ts'
import { authorityUnresolved } from './authority/unresolved.ts'
import { caseCollision } from './bundle/case-collision.ts'
import { externalUnpinned } from './bundle/external-unpinned.ts'
import { lockDrift } from './bundle/lock-drift.ts'
import { lockMissing } from './bundle/lock-missing.ts'
import { pathEscape } from './bundle/path-escape.ts'
import { rootMissing } from './bundle/root-missing.ts'
import { secretFile } from './bundle/secret-file.ts'
import { symlink } from './bundle/symlink.ts'
import { unreferencedFile } from './bundle/unreferenced-file.ts'
import { bundleYanked } from './bundle/yanked.ts'
import { anchorAcrossPolicy } from './doc/anchor-across-policy.ts'
import { docApiVersion } from './doc/api-version.ts'
import { docBom } from './doc/bom.ts'
import { docDuplicateKey } from './doc/duplicate-key.ts'
import { docKindUnknown } from './doc/kind-unknown.ts'
import { docMisplacedKey } from './doc/misplaced-key.ts'
import { multipleDocuments } from './doc/multiple-documents.ts'
import { docNotUtf8 } from './doc/not-utf8.ts'
import { docNumberRange } from './doc/number-range.ts'
import { docSchema } from './doc/schema.ts'
import { docSyntax } from './doc/syntax.ts'
import { docTooLarge } from './doc/too-large.ts'
import { docUnknownKey } from './doc/unknown-key.ts'
import { docUnquotedScalar } from './doc/unquoted-scalar.ts'
import { versionWithoutRef } from './doc/version-without-ref.ts'
import { yaml11Boolean } from './doc/yaml11-boolean.ts'
import { confusable } from './id/confusable.ts'
import { duplicateIdentity } from './id/duplicate.ts'
import { fileName } from './id/file-name.ts'
import { invalidSemver } from './id/invalid-semver.ts'
import { unaddressable } from './id/unaddressable.ts'
import { versionReused } from './id/version-reused.ts'
import { childExceedsParent } from './limits/child-exceeds-parent.ts'
import { depthExceeded } from './limits/depth-exceeded.ts'
import { escalateNobody } from './limits/escalate-nobody.ts'
import { hitlShorterThanTimeout } from './limits/hitl-shorter-than-timeout.ts'
import { limitsMissingLoop } from './limits/missing-loop.ts'
import { limitsMissingTokens } from './limits/missing-tokens.ts'
import { limitsNonPositive } from './limits/non-positive.ts'
import { lintSuppressionWithoutReason } from './lint/suppression-without-reason.ts'
import { lintUnknownRule } from './lint/unknown-rule.ts'
import { lintUnusedSuppression } from './lint/unused-suppression.ts'
import { mcpDescriptionChanged } from './mcp/description-changed.ts'
import { mcpHeaderIgnored } from './mcp/header-ignored.ts'
import { mcpHeaderInvalid } from './mcp/header-invalid.ts'
import { mcpHintConflict } from './mcp/hint-conflict.ts'
import { mcpNoAuth } from './mcp/no-auth.ts'
import { mcpNoContract } from './mcp/no-contract.ts'
import { mcpNotPinned } from './mcp/not-pinned.ts'
import { mcpServerDuplicate } from './mcp/server-duplicate.ts'
import { mcpServerUndeclared } from './mcp/server-undeclared.ts'
import { mcpServerUnused } from './mcp/server-unused.ts'
import { mcpUrlInternal } from './mcp/url-internal.ts'
import { mcpUrlNotHttps } from './mcp/url-not-https.ts'
import { baseUrlFullPath } from './model/base-url-full-path.ts'
import { baseUrlInsecure } from './model/base-url-insecure.ts'
import { baseUrlInvalid } from './model/base-url-invalid.ts'
import { optionsSecret } from './model/options-secret.ts'
import { optionsShadow } from './model/options-shadow.ts'
import { outputExceedsRun } from './model/output-exceeds-run.ts'
import { parameterRange } from './model/parameter-range.ts'
import { providerTypo } from './model/provider-typo.ts'
import { secretImplicitMissing } from './model/secret-implicit-missing.ts'
import { modelSecretUndeclared } from './model/secret-undeclared.ts'
import { stopEmpty } from './model/stop-empty.ts'
import { escalateUnhandled } from './output/escalate-unhandled.ts'
import { onInvalidWithoutSchema } from './output/on-invalid-without-schema.ts'
import { schemaWithoutJson } from './output/schema-without-json.ts'
import { strictMissing } from './output/strict-missing.ts'
import { strictWithoutSchema } from './output/strict-without-schema.ts'
import { allowEverything } from './policy/allow-everything.ts'
import { allowListAmbiguous } from './policy/allow-list-ambiguous.ts'
import { allowValueImpossible } from './policy/allow-value-impossible.ts'
import { allowWithoutType } from './policy/allow-without-type.ts'
import { alwaysTrue } from './policy/always-true.ts'
import { attachmentDuplicate } from './policy/attachment-duplicate.ts'
import { attachmentMissing } from './policy/attachment-missing.ts'
import { authorityRefAuth } from './policy/authority-ref-auth.ts'
import { blockAlias } from './policy/block-alias.ts'
import { caseSensitiveEmail } from './policy/case-sensitive-email.ts'
import { conditionField } from './policy/condition-field.ts'
import { conditionSyntax } from './policy/condition-syntax.ts'
import { contradiction } from './policy/contradiction.ts'
import { policyCost } from './policy/cost.ts'
import { failOpenIfMissing } from './policy/fail-open-if-missing.ts'
import { fieldNotInSchema } from './policy/field-not-in-schema.ts'
import { neverTrue } from './policy/never-true.ts'
import { policyNoDecision } from './policy/no-decision.ts'
import { optionalField } from './policy/optional-field.ts'
import { patternInvalid } from './policy/pattern-invalid.ts'
import { patternUnanchored } from './policy/pattern-unanchored.ts'
import { prefixUrl } from './policy/prefix-url.ts'
import { redundantLeaf } from './policy/redundant-leaf.ts'
import { runtimePrefix } from './policy/runtime-prefix.ts'
import { scopeMismatch } from './policy/scope-mismatch.ts'
import { scopeSyntax } from './policy/scope-syntax.ts'
import { scopeUnknownTool } from './policy/scope-unknown-tool.ts'
import { policyShadowed } from './policy/shadowed.ts'
import { substringList } from './policy/substring-list.ts'
import { typeMismatch } from './policy/type-mismatch.ts'
import { unreachableApproval } from './policy/unreachable-approval.ts'
import { policyUntested } from './policy/untested.ts'
import { unusedPolicy } from './policy/unused-document.ts'
import { schemaDefaultInvalid } from './schema/default-invalid.ts'
import { schemaEmptyRange } from './schema/empty-range.ts'
import { schemaInvalid } from './schema/invalid.ts'
import { schemaNotObject } from './schema/not-object.ts'
import { schemaNumberForMoney } from './schema/number-for-money.ts'
import { schemaOpenObject } from './schema/open-object.ts'
import { schemaPrototypeName } from './schema/prototype-name.ts'
import { schemaRefLoop } from './schema/ref-loop.ts'
import { schemaRefMissing } from './schema/ref-missing.ts'
import { schemaRemoteRef } from './schema/remote-ref.ts'
import { schemaRequiredUndefined } from './schema/required-undefined.ts'
import { schemaUnboundedString } from './schema/unbounded-string.ts'
import { schemaUnsafePattern } from './schema/unsafe-pattern.ts'
import { schemaUnsupportedKeyword } from './schema/unsupported-keyword.ts'
import { secretConflict } from './secret/conflict.ts'
import { envMissing } from './secret/env-missing.ts'
import { envName } from './secret/env-name.ts'
import { secretInUrl } from './secret/in-url.ts'
import { secretLiteral } from './secret/literal.ts'
import { ownApiKey } from './secret/own-api-key.ts'
import { mcpSecretUndeclared } from './secret/undeclared.ts'
import { secretUnused } from './secret/unused.ts'
import { valueInFromEnv } from './secret/value-in-from-env.ts'
import { blanketAllowIrreversible } from './security/blanket-allow-irreversible.ts'
import { dataUriImage } from './security/data-uri-image.ts'
import { descriptionInstructsOtherTool } from './security/description-instructs-other-tool.ts'
import { execTool } from './security/exec-tool.ts'
import { hiddenUnicode } from './security/hidden-unicode.ts'
import { injectionPhrase } from './security/injection-phrase.ts'
import { irreversibleWithoutApproval } from './security/irreversible-without-approval.ts'
import { lethalTrifecta } from './security/lethal-trifecta.ts'
import { mixedScript } from './security/mixed-script.ts'
import { privateResultFull } from './security/private-result-full.ts'
import { secretInArgs } from './security/secret-in-args.ts'
import { selfApproval } from './security/self-approval.ts'
import { untrustedSteersWrite } from './security/untrusted-steers-write.ts'
import { urlArgumentOpen } from './security/url-argument-open.ts'
import { writeWithoutApproval } from './security/write-without-approval.ts'
import { subagentCycle } from './subagent/cycle.ts'
import { subagentDescriptionMissing } from './subagent/description-missing.ts'
import { fullTrace } from './subagent/full-trace.ts'
import { inputMismatch } from './subagent/input-mismatch.ts'
import { lateBoundAuthority } from './subagent/late-bound-authority.ts'
import { subagentMissing } from './subagent/missing.ts'
import { subagentRange } from './subagent/range.ts'
import { subagentRefForm } from './subagent/ref-form.ts'
import { subagentVersionConflict } from './subagent/version-conflict.ts'
import { widensAuthority } from './subagent/widens-authority.ts'
import { classLowered } from './tool/class-lowered.ts'
import { classMissing } from './tool/class-missing.ts'
import { classSuspicious } from './tool/class-suspicious.ts'
import { descriptionDrift } from './tool/description-drift.ts'
import { toolDescriptionMissing } from './tool/description-missing.ts'
import { toolDuplicateBinding } from './tool/duplicate-binding.ts'
import { idempotencyKey } from './tool/idempotency-key.ts'
import { inputWidened } from './tool/input-widened.ts'
import { noInputSchema } from './tool/no-input-schema.ts'
import { toolPrerelease } from './tool/prerelease.ts'
import { probeUnusable } from './tool/probe-unusable.ts'
import { toolRangeInvalid } from './tool/range-invalid.ts'
import { rangeTooWide } from './tool/range-too-wide.ts'
import { toolRefSyntax } from './tool/ref-syntax.ts'
import { tooManyTools } from './tool/too-many.ts'
import { toolUnpinned } from './tool/unpinned.ts'
import { toolUnresolved } from './tool/unresolved.ts'
import { unusedTool } from './tool/unused-document.ts'
import { wireNameCollision } from './tool/wire-name-collision.ts'
import { wireNameInvalid } from './tool/wire-name-invalid.ts'
import { wireNameShadow } from './tool/wire-name-shadow.ts'

export const rules: readonly LintRule[] = [
  docSyntax,
  docDuplicateKey,
  docKindUnknown,
  docApiVersion,
  docSchema,
  docUnknownKey,
  docMisplacedKey,
  docUnquotedScalar,
  docNumberRange,
  docTooLarge,
  docNotUtf8,
  docBom,
  lintUnusedSuppression,
  lintSuppressionWithoutReason,
  lintUnknownRule,
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
