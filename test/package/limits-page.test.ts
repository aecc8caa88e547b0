import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { usualLimits } from '../../nodes/CrmPlatform/api/http/retry';
import { maxLevels } from '../../nodes/CrmPlatform/base/numbers';
import { defaultCursors, maximumCursors } from '../../nodes/CrmPlatform/parameters/listParameters';
import contract from '../../contract/openapi.json';
import { plans } from '../../sandbox/core/schemas/account.ts';
import { maxBatchBodySize, maxBodySize } from '../../sandbox/api/http/body.ts';
import { maxFilters, pageSize } from '../../sandbox/domain/queries/list-query.ts';
import { maxBatchSize } from '../../sandbox/core/schemas/batch.ts';
import { maxCustomFields } from '../../sandbox/core/schemas/custom-fields.ts';
import { jobLimits } from '../../sandbox/core/schemas/jobs.ts';
import { eventsAreKeptMs } from '../../sandbox/core/store/log/event-log.ts';
import { disableAfterMs } from '../../sandbox/api/webhooks/dispatcher.ts';

const page = readFileSync(resolve(__dirname, '../../docs/reference/limits.md'), 'utf8');
const n = (value: number) => value.toLocaleString('en');
const { schemas } = contract.components;
const mebibyte = 1024 * 1024;
const day = 24 * 60 * 60_000;

test.each<[string, string]>([
	['Attempts at one request', n(usualLimits.attempts)],
	[
		'Waiting for the rate limit, per request: in the queue of [many executions](rate-limits.md) and after each 429',
		`[*Maximum Wait*](rate-limits.md#maximum-wait); without it, up to ${usualLimits.unattendedWait / 3_600_000} hour`,
	],
	[
		'Waiting before other retries, per request',
		`[*Maximum Wait*](rate-limits.md#maximum-wait); without it, up to ${usualLimits.wait / 60_000} minutes`,
	],
	['Cursors of one list (*Parallel Reads*)', `${defaultCursors}, at most ${maximumCursors}`],
	['Levels of nested JSON', n(maxLevels)],
	['Requests per minute and account', `Starter ${n(plans.starter)}, Pro ${n(plans.pro)}, Enterprise as agreed`],
	['Records per page', n(pageSize.maximum)],
	['Records per batch', n(maxBatchSize)],
	['Body of a request, of a batch', `${maxBodySize / mebibyte} MiB, ${maxBatchBodySize / mebibyte} MiB`],
	['Lines of a job', `${n(jobLimits.lines)}, or ${jobLimits.bytes / 1_000_000} MB`],
	['Filters of a list', n(maxFilters)],
	['Custom fields per record type', n(maxCustomFields)],
	['Tags of a record', n(schemas.Contact.properties.tag_ids.maxItems)],
	['Email addresses or phone numbers of a contact', n(schemas.Contact.properties.emails.maxItems)],
	['Linked records of a task, note or activity', n(schemas.Task.properties.links.maxItems)],
	['Attachments of a message', n(schemas.Message.properties.attachments.maxItems)],
	['Events are kept', `${eventsAreKeptMs / day} days`],
	['Time that a webhook may fail', `${disableAfterMs / day} days`],
])('the page on limits has the value of: %s', (label, limit) => {
	expect(page).toContain(`| ${label} | ${limit} |`);
});
