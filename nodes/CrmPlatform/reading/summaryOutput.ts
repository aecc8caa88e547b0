import type { IExecuteFunctions } from 'n8n-workflow';

import { chosenOption } from '../parameters/optionText';
import { outputOption } from '../parameters/outputParameters';

/** Whether a summary is output instead of all items. @throws Error in the user's words if the option has an invalid value */
export const isSummary = (n8n: IExecuteFunctions): boolean => chosenOption(n8n, 0, outputOption, 'options.output') === 'summary';
