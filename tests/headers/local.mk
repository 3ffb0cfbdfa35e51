dist_check_SCRIPTS += tests/headers/alone.sh
