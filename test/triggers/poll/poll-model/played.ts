import type { Begins, PollHistory, HistorySettings } from './poll-histories.ts';
import type { PollModelN8n, ModelExecution } from './poll-n8n.ts';
import type { PollModelService } from './poll-service.ts';

/** What a user published, and when the publish began and ended (Unix epoch ms). */
export interface Publication {
	node: string;
	types: string[];
	begins: Begins;
	settings: HistorySettings;
	from: number;
	to: number;
}

/** A history that was played. */
export interface Played {
	history: PollHistory;
	service: PollModelService;
	n8n: PollModelN8n;
	choices: Publication[];
	kills: number[];
	restores: number[];
	/** When the stored position was deleted or set back. */
	losses: number[];
	/** Positions to which it was set back: what is above them was not read yet. */
	setBack: Array<{ sequence: number; readBefore: number }>;
	pruned?: boolean;
}

/** Whether an execution settles its events. */
export function counts(publications: Publication[], { status }: ModelExecution): boolean {
	if (status === 'new') return false;
	return status === 'success' || publications.some(({ settings }) => settings.doneWhen !== 'succeeded');
}
