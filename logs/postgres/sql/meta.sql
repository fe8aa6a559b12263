-- Everything that is known of the layout. No table at all means that nothing was migrated.
select name, value
from {meta};
