import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

import { readPollOptions } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import { readEventParameters } from '../../../nodes/CrmPlatform/trigger/eventProperties';
import { recoverHours } from '../../../nodes/CrmPlatform/trigger/webhook/backlog';

/** A trigger with parameters as an expression or an imported workflow may give them. */
const triggerWith = (parameters: IDataObject): ITriggerFunctions =>
	({
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getTimezone: () => 'America/Sao_Paulo',
		getInstanceId: () => 'instance',
		getWorkflow: () => ({ id: 'workflow', active: true }),
	}) as unknown as ITriggerFunctions;

const pollOptions = (parameters: IDataObject) => readPollOptions(triggerWith(parameters));
const eventChoice = (parameters: IDataObject) => readEventParameters(triggerWith({ events: ['deal.won'], ...parameters }));
const hours = (parameters: IDataObject) => recoverHours(triggerWith(parameters));

describe('A trigger is not published with a value that its parameter does not offer:', () => {
	test.each([
		['Start On: enter one of events, records instead of “both”.', pollOptions, { source: 'both' }],
		['Mark as Done When: enter one of started, ended, succeeded instead of “finished”.', pollOptions, { doneWhen: 'finished' }],
		['Executions: enter one of each, group instead of “all”.', pollOptions, { grouping: 'all' }],
		['Start From: enter one of now, date instead of “yesterday”.', pollOptions, { start: 'yesterday' }],
		['Since: enter a date such as 2026-03-31 or 2026-03-31T14:30 instead of “tomorrow”.', pollOptions, { start: 'date', since: 'tomorrow' }],
		['Since: enter a date such as 2026-03-31 or 2026-03-31T14:30 instead of “14:30”.', pollOptions, { start: 'date', since: '14:30' }],
		['Attempts: enter a whole number of at least 1 instead of “three”.', pollOptions, { attempts: 'three' }],
		['Group Size: enter a whole number of at least 1 instead of “0”.', pollOptions, { grouping: 'group', groupSize: 0 }],
		['Executions at Once: enter a whole number of at least 1 instead of “2.5”.', pollOptions, { options: { atOnce: 2.5 } }],
		['Interval (Seconds): enter a number of seconds up to 86400 instead of “5 min”.', pollOptions, { options: { interval: '5 min' } }],
		['After a Crash: enter one of startAgain, setAside instead of “skip”.', pollOptions, { options: { afterCrash: 'skip' } }],
		['Choose at least one event that starts the workflow.', eventChoice, { events: [] }],
		['Return: enter one of record, current, event instead of “raw”.', eventChoice, { output: 'raw' }],
		['Ignore Changes Made By: enter one of workflow, instance, undo instead of “me”.', eventChoice, { filters: { ignore: ['me'] } }],
		['Recover Missed Events: enter true or false instead of “sometimes”.', hours, { recover: 'sometimes' }],
		['Maximum Age (Hours): enter a number of hours up to 720 instead of “a day”.', hours, { recoverHours: 'a day' }],
	] as const)('%s', (message, read, parameters) => {
		expect(() => read(parameters)).toThrow(new Error(message));
	});
});

test('text from an expression counts as the choice it names', () => {
	const options = { afterCrash: 'setaside', atOnce: '9', interval: '60' };
	const parameters = { doneWhen: 'Succeeded', attempts: '7', grouping: 'group', groupSize: '50', options };
	expect(pollOptions(parameters)).toMatchObject({
		doneWhen: 'succeeded', attempts: 7, groupSize: 50, afterCrash: 'setAside', atOnce: 9, interval: 60_000,
	});
	expect(hours({ recover: 'true', recoverHours: '48' })).toBe(48);
	expect(hours({ recover: 'false' })).toBeUndefined();
});

test.each(['deal.won, deal.lost', '["deal.won", "deal.lost"]'])('the text %s from an expression counts as a list of choices', (events) => {
	expect(eventChoice({ events, filters: { owners: null, ignoreUsers: 'u' } })).toMatchObject({
		events: ['deal.lost', 'deal.won'],
		filter: { equal: { owner_id: [] }, ignored: { users: ['u'] } },
	});
});

test('a blank is the choice that the form shows', () => {
	expect(pollOptions({ attempts: '', options: { afterCrash: '', atOnce: '', interval: '' } })).toEqual({
		startOn: 'events', beginning: '', since: '', doneWhen: 'started', attempts: 3, afterCrash: 'startAgain', atOnce: 5, groupSize: 1,
		interval: 15_000,
	});
});

test('a date is in the time zone of the workflow', () => {
	const chosen = pollOptions({ start: 'date', since: '2026-06-01 00:00:00' });
	expect(chosen).toMatchObject({ beginning: '2026-06-01 00:00:00', since: '2026-06-01T03:00:00.000Z' });
});
