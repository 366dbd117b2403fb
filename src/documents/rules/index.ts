/** All lint rules, in the order of the reference page. */
import type { FactName, LintRule, NamedRule, RuleName } from '../facts/rule.ts'
import { agentClassificationUnused } from './agent/classification-unused.ts'
import { agentInstructionsEmpty } from './agent/instructions-empty.ts'
import { agentInstructionsMissingFile } from './agent/instructions-missing-file.ts'
import { agentInstructionsPlaceholder } from './agent/instructions-placeholder.ts'
import { agentInstructionsVersionAmbiguous } from './agent/instructions-version-ambiguous.ts'
import { agentNeedsBundle } from './agent/needs-bundle.ts'
import { agentNoToolsButPolicies } from './agent/no-tools-but-policies.ts'
import { agentOwnerMissing } from './agent/owner-missing.ts'
import { agentPurposeAsPrompt } from './agent/purpose-as-prompt.ts'
import { agentRiskTierMismatch } from './agent/risk-tier-mismatch.ts'
import { approvalCountRange } from './approval/count-range.ts'
import { approvalFieldsIgnored } from './approval/fields-ignored.ts'
import { approvalHiddenTimeline } from './approval/hidden-timeline.ts'
import { approvalModifyAccept } from './approval/modify-accept.ts'
import { approvalNoTimeout } from './approval/no-timeout.ts'
import { approvalOnModifyValue } from './approval/on-modify-value.ts'
import { approvalOnRejectValue } from './approval/on-reject-value.ts'
import { approvalQuorumUnreachable } from './approval/quorum-unreachable.ts'
import { approvalReasonMissing } from './approval/reason-missing.ts'
import { approvalStarterDecides } from './approval/starter-decides.ts'
import { approvalTimeoutAllowIrreversible } from './approval/timeout-allow-irreversible.ts'
import { approvalTimeoutAllow } from './approval/timeout-allow.ts'
import { approvalTimeoutRange } from './approval/timeout-range.ts'
import { authorityAllAllow } from './authority/all-allow.ts'
import { authorityDuplicate } from './authority/duplicate.ts'
import { authorityIneffective } from './authority/ineffective.ts'
import { authorityLoosened } from './authority/loosened.ts'
import { authorityOrphanRef } from './authority/orphan-ref.ts'
import { authorityUnresolved } from './authority/unresolved.ts'
import { bundleCaseCollision } from './bundle/case-collision.ts'
import { bundleExternalUnpinned } from './bundle/external-unpinned.ts'
import { bundleLockDrift } from './bundle/lock-drift.ts'
import { bundleLockMissing } from './bundle/lock-missing.ts'
import { bundlePathEscape } from './bundle/path-escape.ts'
import { bundleRootMissing } from './bundle/root-missing.ts'
import { bundleSecretFile } from './bundle/secret-file.ts'
import { bundleSymlink } from './bundle/symlink.ts'
import { bundleUnreferencedFile } from './bundle/unreferenced-file.ts'
import { bundleYanked } from './bundle/yanked.ts'
import { docAnchorAcrossPolicy } from './doc/anchor-across-policy.ts'
import { docApiVersion } from './doc/api-version.ts'
import { docBom } from './doc/bom.ts'
import { docDuplicateKey } from './doc/duplicate-key.ts'
import { docKindUnknown } from './doc/kind-unknown.ts'
import { docMisplacedKey } from './doc/misplaced-key.ts'
import { docMultipleDocuments } from './doc/multiple-documents.ts'
import { docNotUtf8 } from './doc/not-utf8.ts'
import { docNumberRange } from './doc/number-range.ts'
import { docSchema } from './doc/schema.ts'
import { docSyntax } from './doc/syntax.ts'
import { docTextCut } from './doc/text-cut.ts'
import { docTooLarge } from './doc/too-large.ts'
import { docUnknownKey } from './doc/unknown-key.ts'
import { docUnquotedScalar } from './doc/unquoted-scalar.ts'
import { docVersionWithoutRef } from './doc/version-without-ref.ts'
import { docYaml11Boolean } from './doc/yaml11-boolean.ts'
import { idConfusable } from './id/confusable.ts'
import { idDuplicate } from './id/duplicate.ts'
import { idFileName } from './id/file-name.ts'
import { idInvalidSemver } from './id/invalid-semver.ts'
import { idUnaddressable } from './id/unaddressable.ts'
import { idVersionReused } from './id/version-reused.ts'
import { limitsChildExceedsParent } from './limits/child-exceeds-parent.ts'
import { limitsCostCap } from './limits/cost-cap.ts'
import { limitsContext } from './limits/context.ts'
import { limitsOutage } from './limits/outage.ts'
import { limitsDepthExceeded } from './limits/depth-exceeded.ts'
import { limitsEscalateNobody } from './limits/escalate-nobody.ts'
import { limitsHitlShorterThanTimeout } from './limits/hitl-shorter-than-timeout.ts'
import { limitsMissingLoop } from './limits/missing-loop.ts'
import { limitsMissingTokens } from './limits/missing-tokens.ts'
import { limitsNonPositive } from './limits/non-positive.ts'
import { limitsPriceUnknown } from './limits/price-unknown.ts'
import { limitsSessionBelowRun } from './limits/session-below-run.ts'
import { limitsWholeNumber } from './limits/whole-number.ts'
import { lintSuppressionWithoutReason } from './lint/suppression-without-reason.ts'
import { lintUnknownRule } from './lint/unknown-rule.ts'
import { lintUnusedSuppression } from './lint/unused-suppression.ts'
import { mcpDescriptionChanged } from './mcp/description-changed.ts'
import { mcpHeaderIgnored } from './mcp/header-ignored.ts'
import { mcpHeaderInvalid } from './mcp/header-invalid.ts'
import { mcpHintConflict } from './mcp/hint-conflict.ts'
import { mcpListingFault } from './mcp/listing-fault.ts'
import { mcpNoAuth } from './mcp/no-auth.ts'
import { mcpNoContract } from './mcp/no-contract.ts'
import { mcpNotPinned } from './mcp/not-pinned.ts'
import { mcpServerDuplicate } from './mcp/server-duplicate.ts'
import { mcpServerUndeclared } from './mcp/server-undeclared.ts'
import { mcpServerUnused } from './mcp/server-unused.ts'
import { mcpUrlInternal } from './mcp/url-internal.ts'
import { mcpUrlNotHttps } from './mcp/url-not-https.ts'
import { modelBaseUrlFullPath } from './model/base-url-full-path.ts'
import { modelBaseUrlInsecure } from './model/base-url-insecure.ts'
import { modelBaseUrlInvalid } from './model/base-url-invalid.ts'
import { modelFallback } from './model/fallback.ts'
import { modelOptionsSecret } from './model/options-secret.ts'
import { modelOptionsShadow } from './model/options-shadow.ts'
import { modelOutputExceedsRun } from './model/output-exceeds-run.ts'
import { modelParameterRange } from './model/parameter-range.ts'
import { modelProviderTypo } from './model/provider-typo.ts'
import { modelSecretImplicitMissing } from './model/secret-implicit-missing.ts'
import { modelSecretUndeclared } from './model/secret-undeclared.ts'
import { modelStopEmpty } from './model/stop-empty.ts'
import { outputEscalateUnhandled } from './output/escalate-unhandled.ts'
import { outputOnInvalidWithoutSchema } from './output/on-invalid-without-schema.ts'
import { outputSchemaWithoutJson } from './output/schema-without-json.ts'
import { outputStrictMissing } from './output/strict-missing.ts'
import { outputStrictWithoutSchema } from './output/strict-without-schema.ts'
import { policyAllowEverything } from './policy/allow-everything.ts'
import { policyAllowListAmbiguous } from './policy/allow-list-ambiguous.ts'
import { policyAllowValueImpossible } from './policy/allow-value-impossible.ts'
import { policyAllowWithoutType } from './policy/allow-without-type.ts'
import { policyAlwaysTrue } from './policy/always-true.ts'
import { policyAttachmentDuplicate } from './policy/attachment-duplicate.ts'
import { policyAttachmentMissing } from './policy/attachment-missing.ts'
import { policyAuthorityRefAuth } from './policy/authority-ref-auth.ts'
import { policyBlockAlias } from './policy/block-alias.ts'
import { policyCaseSensitiveEmail } from './policy/case-sensitive-email.ts'
import { policyConditionField } from './policy/condition-field.ts'
import { policyConditionSyntax } from './policy/condition-syntax.ts'
import { policyContradiction } from './policy/contradiction.ts'
import { policyCost } from './policy/cost.ts'
import { policyEffectWithoutKey } from './policy/effect-without-key.ts'
import { policyFailOpenIfMissing } from './policy/fail-open-if-missing.ts'
import { policyFieldNotInSchema } from './policy/field-not-in-schema.ts'
import { policyNameByCodePoint } from './policy/name-by-code-point.ts'
import { policyNeverTrue } from './policy/never-true.ts'
import { policyNoDecision } from './policy/no-decision.ts'
import { policyOptionalField } from './policy/optional-field.ts'
import { policyPatternInvalid } from './policy/pattern-invalid.ts'
import { policyPatternUnanchored } from './policy/pattern-unanchored.ts'
import { policyPrefixUrl } from './policy/prefix-url.ts'
import { policyRedundantLeaf } from './policy/redundant-leaf.ts'
import { policyRuntimePrefix } from './policy/runtime-prefix.ts'
import { policyScopeMismatch } from './policy/scope-mismatch.ts'
import { policyScopeSyntax } from './policy/scope-syntax.ts'
import { policyScopeUnknownTool } from './policy/scope-unknown-tool.ts'
import { policyShadowed } from './policy/shadowed.ts'
import { policySourceUnattributable } from './policy/source-unattributable.ts'
import { policySubstringList } from './policy/substring-list.ts'
import { policyTypeMismatch } from './policy/type-mismatch.ts'
import { policyUnreachableApproval } from './policy/unreachable-approval.ts'
import { policyUntested } from './policy/untested.ts'
import { policyUnusedDocument } from './policy/unused-document.ts'
import { schemaDefaultInvalid } from './schema/default-invalid.ts'
import { schemaEmptyRange } from './schema/empty-range.ts'
import { schemaEnumInvalid } from './schema/enum-invalid.ts'
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
import { schemaUnknownKeyword } from './schema/unknown-keyword.ts'
import { schemaUnsupportedKeyword } from './schema/unsupported-keyword.ts'
import { secretConflict } from './secret/conflict.ts'
import { secretEnvMissing } from './secret/env-missing.ts'
import { secretEnvName } from './secret/env-name.ts'
import { secretInUrl } from './secret/in-url.ts'
import { secretLiteral } from './secret/literal.ts'
import { secretOwnApiKey } from './secret/own-api-key.ts'
import { secretUndeclared } from './secret/undeclared.ts'
import { secretUnused } from './secret/unused.ts'
import { secretValueInFromEnv } from './secret/value-in-from-env.ts'
import { securityBlanketAllowIrreversible } from './security/blanket-allow-irreversible.ts'
import { securityDataUriImage } from './security/data-uri-image.ts'
import { securityDescriptionInstructsOtherTool } from './security/description-instructs-other-tool.ts'
import { securityExecTool } from './security/exec-tool.ts'
import { securityHiddenUnicode } from './security/hidden-unicode.ts'
import { securityInjectionPhrase } from './security/injection-phrase.ts'
import { securityIrreversibleWithoutApproval } from './security/irreversible-without-approval.ts'
import { securityLethalTrifecta } from './security/lethal-trifecta.ts'
import { securityMixedScript } from './security/mixed-script.ts'
import { securityPrivateResultFull } from './security/private-result-full.ts'
import { securitySecretInArgs } from './security/secret-in-args.ts'
import { securitySelfApproval } from './security/self-approval.ts'
import { securityUntrustedSteersWrite } from './security/untrusted-steers-write.ts'
import { securityUrlArgumentOpen } from './security/url-argument-open.ts'
import { securityWriteWithoutApproval } from './security/write-without-approval.ts'
import { subagentCycle } from './subagent/cycle.ts'
import { subagentDescriptionMissing } from './subagent/description-missing.ts'
import { subagentFullTrace } from './subagent/full-trace.ts'
import { subagentInputMismatch } from './subagent/input-mismatch.ts'
import { subagentLateBoundAuthority } from './subagent/late-bound-authority.ts'
import { subagentMissing } from './subagent/missing.ts'
import { subagentRange } from './subagent/range.ts'
import { subagentRefForm } from './subagent/ref-form.ts'
import { subagentVersionConflict } from './subagent/version-conflict.ts'
import { subagentWidensAuthority } from './subagent/widens-authority.ts'
import { toolClassLowered } from './tool/class-lowered.ts'
import { toolClassMissing } from './tool/class-missing.ts'
import { toolClassSuspicious } from './tool/class-suspicious.ts'
import { toolDescriptionDrift } from './tool/description-drift.ts'
import { toolDescriptionMissing } from './tool/description-missing.ts'
import { toolDuplicateBinding } from './tool/duplicate-binding.ts'
import { toolEffectKeyConstant } from './tool/effect-key-constant.ts'
import { toolCompletionInvalid } from './tool/completion-invalid.ts'
import { toolEffectKeyInvalid } from './tool/effect-key-invalid.ts'
import { toolEffectKeyMissing } from './tool/effect-key-missing.ts'
import { toolEffectKeyShared } from './tool/effect-key-shared.ts'
import { toolEffectKeyUnstable } from './tool/effect-key-unstable.ts'
import { toolHandlerMissing } from './tool/handler-missing.ts'
import { toolIdempotencyKey } from './tool/idempotency-key.ts'
import { toolInputWidened } from './tool/input-widened.ts'
import { toolNoInputSchema } from './tool/no-input-schema.ts'
import { toolPrerelease } from './tool/prerelease.ts'
import { toolProbeUnusable } from './tool/probe-unusable.ts'
import { toolRangeInvalid } from './tool/range-invalid.ts'
import { toolRangeTooWide } from './tool/range-too-wide.ts'
import { toolRefSyntax } from './tool/ref-syntax.ts'
import { toolSummaryInvalid } from './tool/summary-invalid.ts'
import { toolTooMany } from './tool/too-many.ts'
import { toolUndoInvalid } from './tool/undo-invalid.ts'
import { toolUndoUndeclared } from './tool/undo-undeclared.ts'
import { toolUnpinned } from './tool/unpinned.ts'
import { toolUnresolved } from './tool/unresolved.ts'
import { toolUnusedDocument } from './tool/unused-document.ts'
import { toolVendorLimit } from './tool/vendor-limit.ts'
import { toolWireNameCollision } from './tool/wire-name-collision.ts'
import { toolWireNameInvalid } from './tool/wire-name-invalid.ts'
import { toolWireNameShadow } from './tool/wire-name-shadow.ts'

/** The id of a rule is the path of its module. */
const table = {
  'doc/syntax': docSyntax,
  'doc/duplicate-key': docDuplicateKey,
  'doc/kind-unknown': docKindUnknown,
  'doc/api-version': docApiVersion,
  'doc/schema': docSchema,
  'doc/unknown-key': docUnknownKey,
  'doc/misplaced-key': docMisplacedKey,
  'doc/unquoted-scalar': docUnquotedScalar,
  'doc/number-range': docNumberRange,
  'doc/too-large': docTooLarge,
  'doc/not-utf8': docNotUtf8,
  'doc/bom': docBom,
  'lint/unused-suppression': lintUnusedSuppression,
  'lint/suppression-without-reason': lintSuppressionWithoutReason,
  'lint/unknown-rule': lintUnknownRule,
  'doc/multiple-documents': docMultipleDocuments,
  'doc/yaml11-boolean': docYaml11Boolean,
  'doc/text-cut': docTextCut,
  'doc/anchor-across-policy': docAnchorAcrossPolicy,
  'doc/version-without-ref': docVersionWithoutRef,
  'id/invalid-semver': idInvalidSemver,
  'id/unaddressable': idUnaddressable,
  'id/duplicate': idDuplicate,
  'id/version-reused': idVersionReused,
  'id/file-name': idFileName,
  'id/confusable': idConfusable,
  'agent/purpose-as-prompt': agentPurposeAsPrompt,
  'agent/instructions-missing-file': agentInstructionsMissingFile,
  'agent/instructions-empty': agentInstructionsEmpty,
  'agent/instructions-placeholder': agentInstructionsPlaceholder,
  'agent/instructions-version-ambiguous': agentInstructionsVersionAmbiguous,
  'agent/needs-bundle': agentNeedsBundle,
  'agent/no-tools-but-policies': agentNoToolsButPolicies,
  'agent/owner-missing': agentOwnerMissing,
  'agent/risk-tier-mismatch': agentRiskTierMismatch,
  'agent/classification-unused': agentClassificationUnused,
  'model/base-url-invalid': modelBaseUrlInvalid,
  'model/base-url-insecure': modelBaseUrlInsecure,
  'model/base-url-full-path': modelBaseUrlFullPath,
  'model/secret-undeclared': modelSecretUndeclared,
  'model/secret-implicit-missing': modelSecretImplicitMissing,
  'model/provider-typo': modelProviderTypo,
  'model/fallback': modelFallback,
  'model/parameter-range': modelParameterRange,
  'model/output-exceeds-run': modelOutputExceedsRun,
  'model/options-shadow': modelOptionsShadow,
  'model/options-secret': modelOptionsSecret,
  'model/stop-empty': modelStopEmpty,
  'secret/literal': secretLiteral,
  'secret/value-in-from-env': secretValueInFromEnv,
  'secret/env-name': secretEnvName,
  'secret/unused': secretUnused,
  'secret/undeclared': secretUndeclared,
  'secret/env-missing': secretEnvMissing,
  'secret/conflict': secretConflict,
  'secret/in-url': secretInUrl,
  'secret/own-api-key': secretOwnApiKey,
  'limits/non-positive': limitsNonPositive,
  'limits/missing-loop': limitsMissingLoop,
  'limits/missing-tokens': limitsMissingTokens,
  'limits/hitl-shorter-than-timeout': limitsHitlShorterThanTimeout,
  'limits/escalate-nobody': limitsEscalateNobody,
  'limits/child-exceeds-parent': limitsChildExceedsParent,
  'limits/depth-exceeded': limitsDepthExceeded,
  'limits/whole-number': limitsWholeNumber,
  'limits/session-below-run': limitsSessionBelowRun,
  'limits/cost-cap': limitsCostCap,
  'limits/context': limitsContext,
  'limits/outage': limitsOutage,
  'limits/price-unknown': limitsPriceUnknown,
  'output/schema-without-json': outputSchemaWithoutJson,
  'output/strict-without-schema': outputStrictWithoutSchema,
  'output/on-invalid-without-schema': outputOnInvalidWithoutSchema,
  'output/strict-missing': outputStrictMissing,
  'output/escalate-unhandled': outputEscalateUnhandled,
  'schema/ref-missing': schemaRefMissing,
  'schema/invalid': schemaInvalid,
  'schema/unknown-keyword': schemaUnknownKeyword,
  'schema/unsupported-keyword': schemaUnsupportedKeyword,
  'schema/remote-ref': schemaRemoteRef,
  'schema/not-object': schemaNotObject,
  'schema/required-undefined': schemaRequiredUndefined,
  'schema/open-object': schemaOpenObject,
  'schema/unbounded-string': schemaUnboundedString,
  'schema/unsafe-pattern': schemaUnsafePattern,
  'schema/ref-loop': schemaRefLoop,
  'schema/empty-range': schemaEmptyRange,
  'schema/default-invalid': schemaDefaultInvalid,
  'schema/enum-invalid': schemaEnumInvalid,
  'schema/prototype-name': schemaPrototypeName,
  'schema/number-for-money': schemaNumberForMoney,
  'tool/ref-syntax': toolRefSyntax,
  'tool/range-invalid': toolRangeInvalid,
  'tool/unresolved': toolUnresolved,
  'tool/unpinned': toolUnpinned,
  'tool/range-too-wide': toolRangeTooWide,
  'tool/prerelease': toolPrerelease,
  'tool/duplicate-binding': toolDuplicateBinding,
  'tool/wire-name-invalid': toolWireNameInvalid,
  'tool/wire-name-collision': toolWireNameCollision,
  'tool/wire-name-shadow': toolWireNameShadow,
  'tool/description-missing': toolDescriptionMissing,
  'tool/description-drift': toolDescriptionDrift,
  'tool/class-missing': toolClassMissing,
  'tool/class-lowered': toolClassLowered,
  'tool/class-suspicious': toolClassSuspicious,
  'tool/input-widened': toolInputWidened,
  'tool/no-input-schema': toolNoInputSchema,
  'tool/idempotency-key': toolIdempotencyKey,
  'tool/effect-key-missing': toolEffectKeyMissing,
  'tool/effect-key-unstable': toolEffectKeyUnstable,
  'tool/effect-key-constant': toolEffectKeyConstant,
  'tool/completion-invalid': toolCompletionInvalid,
  'tool/effect-key-invalid': toolEffectKeyInvalid,
  'tool/effect-key-shared': toolEffectKeyShared,
  'tool/summary-invalid': toolSummaryInvalid,
  'tool/undo-undeclared': toolUndoUndeclared,
  'tool/undo-invalid': toolUndoInvalid,
  'tool/probe-unusable': toolProbeUnusable,
  'tool/handler-missing': toolHandlerMissing,
  'tool/too-many': toolTooMany,
  'tool/vendor-limit': toolVendorLimit,
  'tool/unused-document': toolUnusedDocument,
  'mcp/server-undeclared': mcpServerUndeclared,
  'mcp/server-duplicate': mcpServerDuplicate,
  'mcp/server-unused': mcpServerUnused,
  'mcp/url-not-https': mcpUrlNotHttps,
  'mcp/url-internal': mcpUrlInternal,
  'mcp/header-ignored': mcpHeaderIgnored,
  'mcp/header-invalid': mcpHeaderInvalid,
  'mcp/no-auth': mcpNoAuth,
  'mcp/no-contract': mcpNoContract,
  'mcp/not-pinned': mcpNotPinned,
  'mcp/description-changed': mcpDescriptionChanged,
  'mcp/hint-conflict': mcpHintConflict,
  'mcp/listing-fault': mcpListingFault,
  'subagent/ref-form': subagentRefForm,
  'subagent/missing': subagentMissing,
  'subagent/cycle': subagentCycle,
  'subagent/version-conflict': subagentVersionConflict,
  'subagent/range': subagentRange,
  'subagent/late-bound-authority': subagentLateBoundAuthority,
  'subagent/description-missing': subagentDescriptionMissing,
  'subagent/widens-authority': subagentWidensAuthority,
  'subagent/full-trace': subagentFullTrace,
  'subagent/input-mismatch': subagentInputMismatch,
  'policy/no-decision': policyNoDecision,
  'policy/attachment-missing': policyAttachmentMissing,
  'policy/attachment-duplicate': policyAttachmentDuplicate,
  'policy/scope-syntax': policyScopeSyntax,
  'policy/scope-mismatch': policyScopeMismatch,
  'policy/scope-unknown-tool': policyScopeUnknownTool,
  'policy/condition-syntax': policyConditionSyntax,
  'policy/condition-field': policyConditionField,
  'policy/field-not-in-schema': policyFieldNotInSchema,
  'policy/type-mismatch': policyTypeMismatch,
  'policy/pattern-invalid': policyPatternInvalid,
  'policy/pattern-unanchored': policyPatternUnanchored,
  'policy/prefix-url': policyPrefixUrl,
  'policy/substring-list': policySubstringList,
  'policy/case-sensitive-email': policyCaseSensitiveEmail,
  'policy/name-by-code-point': policyNameByCodePoint,
  'policy/optional-field': policyOptionalField,
  'policy/effect-without-key': policyEffectWithoutKey,
  'policy/source-unattributable': policySourceUnattributable,
  'policy/fail-open-if-missing': policyFailOpenIfMissing,
  'policy/never-true': policyNeverTrue,
  'policy/always-true': policyAlwaysTrue,
  'policy/contradiction': policyContradiction,
  'policy/redundant-leaf': policyRedundantLeaf,
  'policy/shadowed': policyShadowed,
  'policy/unreachable-approval': policyUnreachableApproval,
  'policy/allow-without-type': policyAllowWithoutType,
  'policy/allow-list-ambiguous': policyAllowListAmbiguous,
  'policy/allow-value-impossible': policyAllowValueImpossible,
  'policy/allow-everything': policyAllowEverything,
  'policy/authority-ref-auth': policyAuthorityRefAuth,
  'policy/block-alias': policyBlockAlias,
  'policy/runtime-prefix': policyRuntimePrefix,
  'policy/cost': policyCost,
  'policy/untested': policyUntested,
  'policy/unused-document': policyUnusedDocument,
  'approval/count-range': approvalCountRange,
  'approval/starter-decides': approvalStarterDecides,
  'approval/quorum-unreachable': approvalQuorumUnreachable,
  'approval/timeout-allow-irreversible': approvalTimeoutAllowIrreversible,
  'approval/timeout-allow': approvalTimeoutAllow,
  'approval/timeout-range': approvalTimeoutRange,
  'approval/no-timeout': approvalNoTimeout,
  'approval/on-reject-value': approvalOnRejectValue,
  'approval/on-modify-value': approvalOnModifyValue,
  'approval/modify-accept': approvalModifyAccept,
  'approval/fields-ignored': approvalFieldsIgnored,
  'approval/hidden-timeline': approvalHiddenTimeline,
  'approval/reason-missing': approvalReasonMissing,
  'authority/unresolved': authorityUnresolved,
  'authority/orphan-ref': authorityOrphanRef,
  'authority/duplicate': authorityDuplicate,
  'authority/ineffective': authorityIneffective,
  'authority/all-allow': authorityAllAllow,
  'authority/loosened': authorityLoosened,
  'bundle/root-missing': bundleRootMissing,
  'bundle/path-escape': bundlePathEscape,
  'bundle/symlink': bundleSymlink,
  'bundle/case-collision': bundleCaseCollision,
  'bundle/unreferenced-file': bundleUnreferencedFile,
  'bundle/lock-missing': bundleLockMissing,
  'bundle/lock-drift': bundleLockDrift,
  'bundle/yanked': bundleYanked,
  'bundle/external-unpinned': bundleExternalUnpinned,
  'bundle/secret-file': bundleSecretFile,
  'security/lethal-trifecta': securityLethalTrifecta,
  'security/irreversible-without-approval': securityIrreversibleWithoutApproval,
  'security/write-without-approval': securityWriteWithoutApproval,
  'security/blanket-allow-irreversible': securityBlanketAllowIrreversible,
  'security/untrusted-steers-write': securityUntrustedSteersWrite,
  'security/hidden-unicode': securityHiddenUnicode,
  'security/mixed-script': securityMixedScript,
  'security/injection-phrase': securityInjectionPhrase,
  'security/description-instructs-other-tool': securityDescriptionInstructsOtherTool,
  'security/exec-tool': securityExecTool,
  'security/url-argument-open': securityUrlArgumentOpen,
  'security/secret-in-args': securitySecretInArgs,
  'security/data-uri-image': securityDataUriImage,
  'security/private-result-full': securityPrivateResultFull,
  'security/self-approval': securitySelfApproval,
} satisfies Readonly<Record<RuleName, LintRule<FactName>>>

export const rules: readonly NamedRule[] = Object.entries<LintRule<FactName>>(table).map(([name, rule]) => ({
  ...rule,
  name: name as RuleName,
}))
