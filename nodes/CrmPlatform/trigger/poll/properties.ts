import { DateTime } from 'luxon';
import type { IDataObject, INodeProperties, IPollFunctions } from 'n8n-workflow';

const defaultMost = 500;

/** What the Poll Trigger asks for beside the events. */
export const pollProperties: INodeProperties[] = [
	{
		displayName: 'Start With',
		name: 'start',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Events From Now On',
				value: 'now',
				description: 'What happens after the workflow is activated for the first time',
			},
			{
				name: 'Events Since a Date',
				value: 'date',
				description: 'What has happened since then as well, as far as the service still knows it',
			},
		],
		default: 'now',
		description: 'Where to begin. Changed later, the trigger begins there anew.',
	},
	{
		displayName: 'Since',
		name: 'since',
		type: 'dateTime',
		// An expression such as {{ $now }} would change with every poll, and begin anew each time.
		noDataExpression: true,
		required: true,
		default: '',
		displayOptions: { show: { start: ['date'] } },
		description: 'The date to begin at, in the time zone of the workflow',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [
			{
				displayName: 'Most Events at Once',
				name: 'mostEvents',
				type: 'number',
				typeOptions: { minValue: 1, maxValue: 5_000 },
				default: defaultMost,
				description: 'How many events one execution gets; the next poll goes on with the rest',
			},
		],
	},
];

/** What the user chose of it. */
export interface PollChoice {
	/** The instant to begin at (RFC 3339); from now on if empty. */
	start: string;
	mostEvents: number;
}

/** @throws Error in the user's words where the date is none */
export function readPollChoice(n8n: IPollFunctions): PollChoice {
	const { mostEvents = defaultMost } = n8n.getNodeParameter('options', {}) as IDataObject;
	return { start: startOf(n8n), mostEvents: Math.max(1, Number(mostEvents) || defaultMost) };
}

function startOf(n8n: IPollFunctions): string {
	if (n8n.getNodeParameter('start', 'now') === 'now') return '';
	const since = String(n8n.getNodeParameter('since', ''));
	const instant = DateTime.fromISO(since.trim().replace(' ', 'T'), { zone: n8n.getTimezone() });
	if (instant.isValid) return instant.toUTC().toISO();
	throw new Error(`'${since}' is not a date. Choose in Since when to begin.`);
}
