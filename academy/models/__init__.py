"""The core's tables: one module per cluster."""

from __future__ import annotations

from academy.models.audit import AuditEvent, Exposure
from academy.models.decisions import Decision
from academy.models.exports import BulkExport
from academy.models.imports import BulkImport
from academy.models.judges import JudgeEndpoint, JudgeJob
from academy.models.limits import SubmissionLimit
from academy.models.people import ApiToken, Membership, Organization
from academy.models.plans import Baseline, Binding, Plan, PlannedExecution
from academy.models.runs import (
    Entrant,
    EntrantAlias,
    InstanceRecord,
    Pack,
    RecordPicture,
    ReportedScore,
    Run,
    RunEvent,
    Submission,
    SubmissionFile,
)
from academy.models.scores import (
    Finding,
    HumanBaseline,
    RunResult,
    RunVector,
    Score,
    ScoringPass,
    Summary,
)
from academy.models.suites import (
    AnswerKey,
    Blob,
    Criterion,
    KeyConfirmation,
    Metric,
    ReferenceTable,
    Suite,
    SuiteFile,
    SuiteVersion,
    Task,
    TaskAsset,
)
from academy.models.work import Work, WorkerHeartbeat

__all__ = [
    "AnswerKey",
    "ApiToken",
    "AuditEvent",
    "Baseline",
    "Binding",
    "Blob",
    "BulkExport",
    "BulkImport",
    "Criterion",
    "Decision",
    "Entrant",
    "EntrantAlias",
    "Exposure",
    "Finding",
    "HumanBaseline",
    "InstanceRecord",
    "JudgeEndpoint",
    "JudgeJob",
    "KeyConfirmation",
    "Membership",
    "Metric",
    "Organization",
    "Pack",
    "Plan",
    "PlannedExecution",
    "RecordPicture",
    "ReferenceTable",
    "ReportedScore",
    "Run",
    "RunEvent",
    "RunResult",
    "RunVector",
    "Score",
    "ScoringPass",
    "Submission",
    "SubmissionFile",
    "SubmissionLimit",
    "Suite",
    "SuiteFile",
    "SuiteVersion",
    "Summary",
    "Task",
    "TaskAsset",
    "Work",
    "WorkerHeartbeat",
]
